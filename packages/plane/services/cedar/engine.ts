// The Cedar engine: WebAssembly that is loaded when the first policies are, and not before.
import type * as CedarWasm from '@cedar-policy/cedar-wasm/nodejs';

export type Engine = Pick<
  typeof CedarWasm,
  | 'checkParseEntities'
  | 'policyToJson'
  | 'preparsePolicySet'
  | 'schemaToJson'
  | 'statefulIsAuthorized'
  | 'validate'
>;

let loading: Promise<Engine> | undefined;

export function loadEngine(): Promise<Engine> {
  loading ??= import('@cedar-policy/cedar-wasm/nodejs');
  return loading;
}

/**
 * The engine keeps parsed policy sets by name and has no way to drop one, so names are used again.
 * Without that each reload would leak a policy set.
 */
const freeNames: string[] = [];
let named = 0;

export function takeName(): string {
  return freeNames.pop() ?? `set-${named++}`;
}

export function giveBack(engine: Engine, name: string): void {
  engine.preparsePolicySet(name, { staticPolicies: {} });
  freeNames.push(name);
}
