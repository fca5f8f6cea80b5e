// What a tool of a client has put out, as the result of an MCP tool, and back.
import { isObject, type JsonValue } from '@subluminal/contracts';

/** The JSON of a result. */
export function resultOf(output: JsonValue, isError: boolean): string {
  const failed = isError ? { isError } : {};
  if (typeof output === 'string') {
    return JSON.stringify({ content: [{ type: 'text', text: output }], ...failed });
  }
  const structuredContent = isObject(output) ? output : { output };
  return JSON.stringify({ content: [], structuredContent, ...failed });
}

/** The output in a result that `resultOf` has made, after the gates; undefined when it is not there any more. */
export function outputIn(
  result: { readonly [key: string]: unknown },
  output: JsonValue,
): JsonValue | undefined {
  const { content, structuredContent } = result;
  if (typeof output === 'string') return textOf(content);
  if (!isObject(structuredContent)) return undefined;
  const value = isObject(output) ? structuredContent : structuredContent['output'];
  return isJson(value) ? value : undefined;
}

/** A value that came from JSON holds only JSON. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** The text of a result, or of a refusal in the form of one. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((block: unknown) =>
    isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Keys by which a client tells the shapes of an output apart. */
const SHAPE_KEYS: ReadonlySet<string> = new Set(['type', 'kind', 'status', 'mimeType']);
const SHAPE_NAME = /^[\w/+.-]{1,40}$/;

/**
 * An output of the same shape without its texts: clients take no other shape in place of one. The notice stands where
 * the longest text was, which is what the model gets to see.
 */
export function withheld(output: JsonValue, notice: string): JsonValue {
  const longest = longestText(output);
  let isGiven = false;
  const visit = (value: JsonValue, key: string): JsonValue => {
    if (typeof value === 'string') {
      if (isShapeName(value, key)) return value;
      if (isGiven || value !== longest) return '';
      isGiven = true;
      return notice;
    }
    if (Array.isArray(value)) return value.map((item: JsonValue) => visit(item, key));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, visit(member, name)]),
    );
  };
  return visit(output, '');
}

function isShapeName(text: string, key: string): boolean {
  return SHAPE_KEYS.has(key) && SHAPE_NAME.test(text);
}

function longestText(output: JsonValue): string {
  let longest = '';
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (!isShapeName(value, key) && value.length > longest.length) longest = value;
    } else if (Array.isArray(value)) for (const item of value) visit(item, key);
    else if (isObject(value))
      for (const [name, member] of Object.entries(value)) visit(member, name);
  };
  visit(output, '');
  return longest;
}
