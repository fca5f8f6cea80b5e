// Objects as JSON text: members are read and replaced, and all others stay as they were written, digit by
// digit. Nothing is parsed and written anew.
import { memberText, memberTexts } from '../../json/text-parts.ts';

/** The new JSON of members; undefined takes one out. */
export interface MemberChanges {
  readonly [key: string]: string | undefined;
}

/** The object with some members changed; new ones come last. Without an object, an empty one is changed. */
export function withMembers(object: string | undefined, changes: MemberChanges): string {
  const written = new Set<string>();
  const kept = (object === undefined ? undefined : memberTexts(object)) ?? [];
  const texts: string[] = [];
  for (const { key, value } of kept) {
    const isChanged = Object.hasOwn(changes, key);
    const json = isChanged ? changes[key] : value;
    // Of a key that stands twice, one is enough.
    if (json === undefined || (isChanged && written.has(key))) continue;
    written.add(key);
    texts.push(`${JSON.stringify(key)}:${json}`);
  }
  for (const [key, json] of Object.entries(changes)) {
    if (json !== undefined && !written.has(key)) texts.push(`${JSON.stringify(key)}:${json}`);
  }
  return `{${texts.join(',')}}`;
}

/** The value at the end of a path of members, as it was written. */
export function textAt(text: string | undefined, ...path: readonly string[]): string | undefined {
  let value = text;
  for (const key of path) value = value === undefined ? undefined : memberText(value, key);
  return value;
}

/** The text of a JSON string; undefined for everything else. */
export function stringOf(json: string | undefined): string | undefined {
  if (json === undefined || !json.startsWith('"')) return undefined;
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : undefined;
}

export function isObjectText(json: string | undefined): json is string {
  return json?.startsWith('{') === true;
}

/** The object, or undefined when nothing is in it. */
export function unlessEmpty(object: string): string | undefined {
  return object === '{}' ? undefined : object;
}

/** An object made of JSON texts. */
export function objectOf(members: MemberChanges): string {
  return withMembers(undefined, members);
}
