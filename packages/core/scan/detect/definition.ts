// What a server says about itself: tools, prompts, resources, instructions. A model obeys it before
// anybody asks anything, so it is judged harder than a result.
import { scanJson } from './scan-json.ts';
import { scanText } from './scan-text.ts';
import type { ContentFinding, ScanOptions, ScanVerdict } from './types.ts';

export type DefinitionOptions = Omit<ScanOptions, 'strictness'>;

const NAME = /^[A-Za-z0-9_./:-]{1,128}$/;

/** A tool as `tools/list` shows it: its name, title, description, every text of its schemas, annotations. */
export function scanToolDefinition(tool: unknown, options: DefinitionOptions): ScanVerdict {
  const verdict = scanJson(tool, { ...options, strictness: 'definition' });
  const odd = oddName(tool, options);
  return odd === undefined ? verdict : { ...verdict, findings: [odd, ...verdict.findings] };
}

/** A prompt, a resource or a resource's template, as its list shows it. */
export function scanListed(entry: unknown, options: DefinitionOptions): ScanVerdict {
  return scanJson(entry, { ...options, strictness: 'definition' });
}

/** The instructions that the server sends to the model with `initialize`. */
export function scanInstructions(instructions: string, options: DefinitionOptions): ScanVerdict {
  return scanText(instructions, { ...options, strictness: 'definition' });
}

/** Models and policies must read a name alike, so the name of a tool has plain characters only. */
function oddName(
  tool: unknown,
  { fingerprint, classes }: DefinitionOptions,
): ContentFinding | undefined {
  if (typeof tool !== 'object' || tool === null || !('name' in tool)) return undefined;
  const { name } = tool;
  if (typeof name !== 'string' || NAME.test(name)) return undefined;
  if (classes !== undefined && !classes.includes('hidden_text')) return undefined;
  return {
    class: 'hidden_text',
    rule: 'odd-name',
    path: '$.name',
    start: 0,
    end: name.length,
    confidence: 'likely',
    fingerprint: fingerprint(name),
    label: 'has a name with characters that names of tools do not have',
  };
}
