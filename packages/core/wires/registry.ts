// The wires, by their names.
import { anthropicWire } from './anthropic/index.ts';
import { chatWire } from './chat/index.ts';
import { responsesWire } from './responses/index.ts';
import type { WireName } from './shared/form.ts';
import type { Wire } from './shared/wire.ts';

/** A wire is a folder beside this file and one line here. */
const WIRES: { readonly [N in WireName]: Wire } = {
  anthropic_messages: anthropicWire,
  openai_chat_completions: chatWire,
  openai_responses: responsesWire,
};

export function wireFor(name: WireName): Wire {
  return WIRES[name];
}
