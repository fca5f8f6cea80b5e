// Reads the JSON of rows. Somebody may have edited it by hand: what is not of its form is empty.
import { isJsonObject, type JsonObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';

export function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

export function objectOrNull(text: string | null): JsonObject | null {
  return text === null ? null : objectIn(text);
}

export function objectsIn(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function stringsIn(text: string): readonly string[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
