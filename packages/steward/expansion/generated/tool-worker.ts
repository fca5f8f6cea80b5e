// Who writes the code of a tool. It knows the request alone, and its answer is text that nobody trusts.
import {
  type Failure,
  isFailure,
  isJsonObject,
  shapeSchema,
  tableFailure,
} from '@subluminal/contracts';
import { closed, required, string } from '@subluminal/contracts/shape';
import type { ModelMessage, Models } from '../../models/types.ts';

export interface ToolRequest {
  readonly name: string;
  readonly purpose: string;
}

/** All three as text. */
export interface ToolDraft {
  readonly code: string;
  readonly capabilities: string;
  readonly tests: string;
}

export interface ToolWorker {
  /** `trouble` says what was wrong with the last draft. */
  write(
    request: ToolRequest,
    trouble: string | undefined,
    signal: AbortSignal,
  ): Promise<ToolDraft | Failure>;
}

const TOKENS_MAX = 8_000;

const SYSTEM = `You write one small tool in JavaScript, and submit it with submit_tool. Another program runs it in a sandbox; you cannot run anything.

tool.js is one module without imports. Its default export is a function, async or not, of (input, host), and gives a JSON value. There are no timers, no process, no require, no fetch. It has only:
- host.fetch({ url, method, headers, body }) → { status, headers, body }, for https addresses that the manifest declares;
- host.readFile(path) → text, for files that the manifest declares;
- host.log(...).

The manifest is a JSON object: name, description, input (a flat JSON Schema of type object: string, number, integer, boolean, and arrays of these), reads_only (boolean), hosts ([{ host, paths, methods }]), files (absolute paths), secrets ([{ ref, host, header, prefix }], references such as sub://weather-key, which the host resolves), limits ({ time_ms, memory_mb }). Declare as little as possible: the user reads it and decides.

The tests are a JSON array of { "input": {…}, "result": … }. They run without any host, file or secret, so test what needs none: for example how input is checked.`;

const SUBMIT = closed({
  code: required(string({ lengthMax: 200_000 }), 'tool.js.'),
  capabilities: required(string({ lengthMax: 100_000 }), 'The manifest, as JSON text.'),
  tests: required(string({ lengthMax: 100_000 }), 'The tests, as JSON text.'),
});

export function modelWorker(models: Models, runId: () => string): ToolWorker {
  return {
    write: async ({ name, purpose }, trouble, signal) => {
      const asked = `Write the tool ${name}. What it is for:\n${purpose}`;
      const again = `\n\nYour last draft was refused: ${trouble}\nSubmit a better one.`;
      const text = trouble === undefined ? asked : asked + again;
      const messages: readonly ModelMessage[] = [{ role: 'user', text }];
      const description = 'Submit the tool.';
      const answer = await models.ask({
        ...{ purpose: 'worker', runId: runId(), system: SYSTEM, messages, signal },
        tools: [{ name: 'submit_tool', description, inputSchema: shapeSchema(SUBMIT) }],
        tokensMax: TOKENS_MAX,
      });
      if (isFailure(answer)) return answer;
      const args = answer.uses.find((use) => use.name === 'submit_tool')?.args ?? {};
      const [code, capabilities, tests] = ['code', 'capabilities', 'tests'].map((field) => {
        const value = args[field];
        // Models like to submit JSON as JSON.
        return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : value;
      });
      if (
        typeof code !== 'string' ||
        typeof capabilities !== 'string' ||
        typeof tests !== 'string'
      ) {
        return tableFailure('SUB_STEWARD_EXPANSION', 'The model has not submitted a tool.');
      }
      return { code, capabilities, tests };
    },
  };
}
