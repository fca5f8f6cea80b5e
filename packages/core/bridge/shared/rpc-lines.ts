// The lines that a bridge writes: JSON-RPC, made of parts that are JSON already.
import { objectOf } from './object-text.ts';

const RPC = '{"jsonrpc":"2.0"';

export function requestText(id: string, method: string, params?: string): string {
  const tail = params === undefined ? '' : `,"params":${params}`;
  return `${RPC},"id":${id},"method":${JSON.stringify(method)}${tail}}\n`;
}

export function notificationText(method: string, params?: string): string {
  const tail = params === undefined ? '' : `,"params":${params}`;
  return `${RPC},"method":${JSON.stringify(method)}${tail}}\n`;
}

export function resultText(id: string, result: string): string {
  return `${RPC},"id":${id},"result":${result}}\n`;
}

export function errorResponse(id: string, error: string): string {
  return `${RPC},"id":${id},"error":${error}}\n`;
}

/** The JSON of an error of the bridge itself. */
export function errorJson(code: number, message: string, data?: string): string {
  return objectOf({ code: String(code), message: JSON.stringify(message), data });
}
