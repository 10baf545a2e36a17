/** A promise that someone else settles; the language has it from Node 22 on. */
export function promiseWithResolver<T>(): {promise: Promise<T>; resolve: (value: T) => void} {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => (resolve = resolvePromise));
  return {promise, resolve};
}
