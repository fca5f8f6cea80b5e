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

export interface TurnWires {
  wire(name: WireName): Wire;
  outline(wire: WireName, body: Uint8Array): RequestOutline | Failure;
  withModel(body: Uint8Array, outline: RequestOutline, model: string): Uint8Array;
}

const BYTE_TOOLS: ByteTools = { isUtf8, latin1: (bytes) => view(bytes).toString('latin1') };

/** The wires as core has them, with what Node does faster. */
export const coreWires: TurnWires = {
  wire: wireFor,
  outline: (wire, body) => outlineRequest(wire, body, BYTE_TOOLS),
  withModel: spliceModel,
};

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
