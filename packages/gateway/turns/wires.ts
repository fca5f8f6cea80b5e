// What the engine asks of the wires.
import { isUtf8 } from 'node:buffer';
import type { Failure } from '@subluminal/contracts';
import {
  type ByteTools,
  outlineRequest,
  type RequestOutline,
  spliceModel,
  type Wire,
  type WireName,
  wireFor,
} from '@subluminal/core/wires';
import { RequestMemory } from './request-memory.ts';

export interface TurnWires {
  wire(name: WireName): Wire;
  /** `conversation`: whatever tells it from others; its last requests are remembered. */
  outline(wire: WireName, body: Uint8Array, conversation?: string): RequestOutline | Failure;
  /** The body with this model, in pieces. */
  withModel(body: Uint8Array, outline: RequestOutline, model: string): readonly Uint8Array[];
}

const BYTE_TOOLS: ByteTools = {
  isUtf8,
  latin1: (bytes) => view(bytes).toString('latin1'),
  isEqual: (one, other) => view(one).equals(other),
};

/** The wires as core has them, with what Node does faster. */
export const coreWires: TurnWires = {
  wire: wireFor,
  outline: (wire, body) => outlineRequest(wire, body, BYTE_TOOLS),
  withModel: spliceModel,
};

/** Wires that remember the conversations of one server. */
export function rememberingWires(): TurnWires {
  const memory = new RequestMemory(BYTE_TOOLS);
  return {
    ...coreWires,
    outline: (wire, body, conversation) =>
      conversation === undefined
        ? coreWires.outline(wire, body)
        : memory.outline(wire, body, conversation),
  };
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
