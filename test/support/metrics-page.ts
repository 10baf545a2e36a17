/** One sample of a server's `/metrics`, by the beginning of its line. */

/** @param sample name and labels, `name{a="b"}` @returns undefined when the page has no such sample */
export async function sampleOf(url: string, sample: string): Promise<string | undefined> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = page.split('\n').find((line) => line.startsWith(`${sample} `));
  return line?.slice(sample.length + 1);
}
