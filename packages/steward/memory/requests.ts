// Requests of the agent as they stand in the database, where somebody may have changed them.
import { type Failure, isObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import {
  type MemoryParts,
  memoryRefusal,
  REASON_UNITS_MAX,
  TEXT_UNITS_MAX,
} from './memory-parts.ts';
import type { MemoryRequestBody, RequestRow } from './store/types.ts';
import type { MemoryRequest, NewMemoryRequest } from './types.ts';

const REQUESTS_MAX = 100;

export async function fileRequest(
  { store, newId, nowMs, redactor }: MemoryParts,
  { body, reason, conversation }: NewMemoryRequest,
): Promise<MemoryRequest | Failure> {
  const { length } = await store.requests();
  if (length >= REQUESTS_MAX) return memoryRefusal(`${REQUESTS_MAX} requests wait for the user.`);
  const text = redactor.plain(JSON.stringify(body));
  if (text.length > TEXT_UNITS_MAX) return memoryRefusal('The request is too long.');
  const row = {
    id: newId(),
    body: text,
    reason: redactor.plain(reason.slice(0, REASON_UNITS_MAX)),
    conversation,
    createdMs: nowMs(),
  };
  await store.putRequest(row);
  return readRequest(row) ?? memoryRefusal('The request cannot be kept.');
}

export function readRequest(row: RequestRow): MemoryRequest | undefined {
  const body = requestBody(row.body);
  return body === undefined ? undefined : { ...row, body };
}

export function requestBody(json: string): MemoryRequestBody | undefined {
  const value = parseJson(json);
  if (!isObject(value)) return undefined;
  const { kind, containing, key, value: fact } = value;
  if (kind === 'forget' && typeof containing === 'string') return { kind, containing };
  if (kind === 'core' && typeof key === 'string' && typeof fact === 'string')
    return { kind, key, value: fact };
  return undefined;
}
