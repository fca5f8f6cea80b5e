// Has a tool written, and looks at it before the user does: its manifest is read as an installed one is, and its own
// tests run in the sandbox, where nothing outside can be reached.
import { isDeepStrictEqual } from 'node:util';
import {
  type Failure,
  isFailure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ToolManifest,
  tableFailure,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { parseJson } from '@subluminal/plane/os';
import { readToolManifest, runSandboxed, type SandboxPorts } from '../../sandbox/index.ts';
import type { ToolDraft, ToolRequest, ToolWorker } from './tool-worker.ts';

export interface MadeTool {
  readonly kind: 'tool';
  readonly manifest: ToolManifest;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly testCount: number;
}

export interface MakeToolParts {
  readonly worker: ToolWorker;
  readonly ports: SandboxPorts;
  readonly signal: AbortSignal;
}

interface ToolTest {
  readonly input: JsonObject;
  readonly result: JsonValue;
}

const ATTEMPTS_MAX = 3;
const CODE_BYTES_MAX = 200_000;
const TESTS_MAX = 10;
const WORDS_MAX = 500;

export async function makeTool(
  request: ToolRequest,
  { worker, ports, signal }: MakeToolParts,
): Promise<MadeTool | Failure> {
  let trouble: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const draft = await worker.write(request, trouble, signal);
    if (isFailure(draft)) return draft;
    const made = await checkDraft(request, draft, { ports, signal });
    if (typeof made !== 'string') return made;
    trouble = made;
  }
  const why = `${quoteName(request)} could not be written. ${trouble ?? ''}`;
  return tableFailure('SUB_STEWARD_EXPANSION', why);
}

function quoteName({ name }: ToolRequest): string {
  return `The tool ${visible(name, 64)}`;
}

/** A text says what is wrong with it. */
async function checkDraft(
  { name }: ToolRequest,
  { code, capabilities, tests }: ToolDraft,
  parts: Pick<MakeToolParts, 'ports' | 'signal'>,
): Promise<MadeTool | string> {
  if (Buffer.byteLength(code) > CODE_BYTES_MAX) return 'The code is too large.';
  const manifest = readToolManifest(capabilities);
  if (typeof manifest === 'string') return manifest;
  if (manifest.name !== name) return `The tool must be called ${name}.`;
  const read = testsIn(tests);
  if (typeof read === 'string') return read;
  for (const [at, test] of read.entries()) {
    const problem = await testProblem(test, { code, manifest }, parts);
    if (problem !== undefined) return visible(`Test ${at + 1}: ${problem}`, WORDS_MAX);
  }
  const written = [
    ['tool.js', code],
    ['tool.capabilities.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['tool.tests.json', `${JSON.stringify(read, null, 2)}\n`],
  ] as const;
  const files = written.map(([file, text]) => ({ path: `tools/${name}/${file}`, text }));
  return { kind: 'tool', manifest, files, testCount: read.length };
}

function testsIn(text: string): readonly ToolTest[] | string {
  const list = parseJson(text);
  if (!Array.isArray(list) || list.length === 0 || list.length > TESTS_MAX) {
    return `There must be 1 to ${TESTS_MAX} tests.`;
  }
  const tests = list.flatMap((one) =>
    isJsonObject(one) && isJsonObject(one['input']) && one['result'] !== undefined
      ? [{ input: one['input'], result: one['result'] }]
      : [],
  );
  return tests.length === list.length ? tests : 'A test has an `input` and a `result`.';
}

async function testProblem(
  { input, result }: ToolTest,
  { code, manifest }: { readonly code: string; readonly manifest: ToolManifest },
  { ports, signal }: Pick<MakeToolParts, 'ports' | 'signal'>,
): Promise<string | undefined> {
  // Nobody has agreed to anything yet: no host, no file, no secret.
  const closed = { ...manifest, hosts: [], files: [], secrets: [] };
  const program = { kind: 'js', code } as const;
  const outcome = await runSandboxed({ program, manifest: closed, input, ports, signal });
  if (outcome.kind === 'failed') return outcome.why;
  if (isDeepStrictEqual(outcome.value, result)) return undefined;
  return `expected ${JSON.stringify(result)}, got ${JSON.stringify(outcome.value)}.`;
}
