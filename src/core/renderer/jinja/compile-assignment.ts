/** Assignment to a name, to an attribute of a namespace, or to several of these at once. */
import type {Target} from './ast.ts';
import {type Frame, scopeAt} from './frame.ts';
import {Namespace} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import type {Runtime, Scope} from './runtime.ts';
import {isIterable, iterate} from './sequences.ts';
import {typeName, type Value} from './values.ts';
import {targetNames} from './walk.ts';

export type Assign = (runtime: Runtime, scope: Scope, value: Value) => void;

export function compileAssignment(target: Target, frame: Frame): Assign {
  switch (target.type) {
    case 'name-target':
      return compileNameAssignment(target.name, frame);
    case 'namespace-target': {
      const {attribute} = target;
      const namespaceOf = compileNamespace(target.name, frame);
      return (runtime, scope, value) => namespaceOf(runtime, scope).attributes.set(attribute, value);
    }
    case 'tuple-target': {
      const assigns = target.items.map((item) => compileAssignment(item, frame));
      return (runtime, scope, value) => {
        const values = unpack(value, assigns.length);
        assigns.forEach((assign, index) => {
          assign(runtime, scope, values[index]!);
        });
      };
    }
  }
}

/** What must hold before the value is computed: attributes are set on namespaces only. */
export function compileTargetCheck(target: Target, frame: Frame): (runtime: Runtime, scope: Scope) => void {
  const namespaces = namespaceNames(target).map((name) => compileNamespace(name, frame));
  return (runtime, scope) => {
    for (const check of namespaces) check(runtime, scope);
  };
}

/** Blocks see what the top level sets. */
export function compileExport(target: Target, frame: Frame): (runtime: Runtime, scope: Scope) => void {
  if (!frame.isTop || !frame.unit.hasBlocks) return () => {};
  const exports = targetNames(target).map((name) => ({name, index: frame.variable(name).index}));
  return (runtime, {slots}) => {
    for (const {name, index} of exports) runtime.exported.set(name, slots[index]!);
  };
}

function compileNameAssignment(name: string, frame: Frame): Assign {
  const {hops, index} = frame.variable(name);
  return (_runtime, scope, value) => void (scopeAt(scope, hops).slots[index] = value);
}

function compileNamespace(name: string, frame: Frame): (runtime: Runtime, scope: Scope) => Namespace {
  const {hops, index} = frame.variable(name);
  return (_runtime, scope) => {
    const namespace = scopeAt(scope, hops).slots[index];
    if (namespace instanceof Namespace) return namespace;
    throw new PythonError('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
  };
}

function namespaceNames(target: Target): string[] {
  if (target.type === 'tuple-target') return target.items.flatMap(namespaceNames);
  return target.type === 'namespace-target' ? [target.name] : [];
}

/** Exactly so many elements. */
function unpack(value: Value, count: number): Value[] {
  if (!isIterable(value)) throw typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  const values: Value[] = [];
  for (const item of iterate(value)) {
    if (values.length === count) throw valueError(`too many values to unpack (expected ${count})`);
    values.push(item);
  }
  if (values.length === count) return values;
  throw valueError(`not enough values to unpack (expected ${count}, got ${values.length})`);
}
