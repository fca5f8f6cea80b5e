// Tools that take free text, on a wire whose tools take JSON only: the text becomes the one argument of a function.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import type { CustomTool, FunctionTool } from './form.ts';
import { parseObject, stringIn } from './read-members.ts';

/** The argument that holds the text. */
export const CUSTOM_INPUT = 'input';

/** A custom tool as a function that takes the text as its only argument. */
export function asFunctionTool(tool: CustomTool): FunctionTool {
  const { name, namespace, namespaceDescription, description = '', cache } = tool;
  const text = `${description}${grammarText(tool.format)}`;
  return {
    kind: 'function',
    name,
    ...(text === '' ? {} : { description: text }),
    schema: {
      type: 'object',
      properties: { [CUSTOM_INPUT]: { type: 'string' } },
      required: [CUSTOM_INPUT],
      additionalProperties: false,
    },
    ...(namespace === undefined ? {} : { namespace }),
    ...(namespaceDescription === undefined ? {} : { namespaceDescription }),
    ...(cache === undefined ? {} : { cache }),
  };
}

function grammarText(format: JsonValue | undefined): string {
  const definition = isJsonObject(format) ? stringIn(format, 'definition') : undefined;
  if (!isJsonObject(format) || definition === undefined) return '';
  const syntax = stringIn(format, 'syntax');
  const kind = syntax === undefined ? '' : `${syntax} `;
  return `\n\n\`${CUSTOM_INPUT}\` must follow this ${kind}grammar:\n${definition}`;
}

export function asFunctionInput(text: string): string {
  return JSON.stringify({ [CUSTOM_INPUT]: text });
}

/** The text that a model gave to a custom tool; what is not of the shape that was asked for is left as it is. */
export function asCustomInput(input: string): string {
  const value = parseObject(input);
  return (value && stringIn(value, CUSTOM_INPUT)) ?? input;
}
