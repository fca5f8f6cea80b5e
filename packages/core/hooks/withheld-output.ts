// Outputs of tools in the shape that the client knows: it takes no notice of another one, and its model
// would get what the tool has told.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';

const DEPTH_MAX = 256;

/** The shape of this output with a text in place of what the tool told; undefined for an unknown shape. */
export function withheldOutput(output: JsonValue, text: string): JsonValue | undefined {
  if (typeof output === 'string') return text;
  if (Array.isArray(output)) return [{ type: 'text', text }];
  if (!isJsonObject(output)) return undefined;
  if (isShell(output))
    return { stdout: text, stderr: '', interrupted: output['interrupted'] === true };
  if (!isJsonObject(output['file'])) return undefined;
  // Also for images and notebooks: a text is what says why they are withheld.
  const filePath = output['file']['filePath'];
  const file = { content: text, numLines: 1, startLine: 1, totalLines: 1 };
  return {
    type: 'text',
    file: { filePath: typeof filePath === 'string' ? filePath : '', ...file },
  };
}

function isShell(output: JsonObject): boolean {
  return typeof output['stdout'] === 'string' && typeof output['interrupted'] === 'boolean';
}

/** Whether an output has the members and types of another one; lists may differ in length. */
export function hasShapeOf(model: JsonValue, output: JsonValue, depth = 0): boolean {
  if (typeof model !== 'object' || model === null) return typeof model === typeof output;
  if (depth > DEPTH_MAX || Array.isArray(model) !== Array.isArray(output)) return false;
  if (Array.isArray(model) || !isJsonObject(model)) return true;
  if (!isJsonObject(output)) return false;
  return Object.entries(model).every(([key, value]) => {
    const other = output[key];
    return other !== undefined && hasShapeOf(value, other, depth + 1);
  });
}
