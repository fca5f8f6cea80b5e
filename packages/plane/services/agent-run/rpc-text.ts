// JSON-RPC messages that both peers in this process write.
import type { JsonValue } from '@subluminal/contracts';

/** The last revision with a handshake: bridges translate for servers that speak another one. */
export const PROTOCOL_VERSION = '2025-11-25';

export const RPC_ERRORS = {
  unknownMethod: -32_601,
  badParams: -32_602,
  internal: -32_603,
} as const;

export function rpcResult(id: JsonValue, result: JsonValue): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

export function rpcError(id: JsonValue, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** The governor and the watch of calls rely on the order of these members. */
export function rpcRequest(id: number, method: string, params: JsonValue): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function rpcNotification(method: string, params: JsonValue): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}
