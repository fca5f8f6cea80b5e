// What the engine asks of the wires.
import type { Failure } from '@subluminal/contracts';
import type { RequestOutline, Wire, WireName } from '@subluminal/core/wires';

export interface TurnWires {
  wire(name: WireName): Wire;
  outline(wire: WireName, body: Uint8Array): RequestOutline | Failure;
  withModel(body: Uint8Array, outline: RequestOutline, model: string): Uint8Array;
}
