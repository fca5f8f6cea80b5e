// The wires, by their names.
import { anthropicWire } from './anthropic/index.ts';
import type { WireName } from './shared/form.ts';
import type { Wire } from './shared/wire.ts';

/** A wire is a folder beside this file and one line here. */
const WIRES: { readonly [N in WireName]?: Wire } = {
  anthropic_messages: anthropicWire,
};

export function wireFor(name: WireName): Wire {
  const wire = WIRES[name];
  if (wire === undefined) throw new Error(`the wire ${name} is not built in`);
  return wire;
}
