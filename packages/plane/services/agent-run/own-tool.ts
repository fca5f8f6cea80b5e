// Tools that live in this process. Agents see them as those of any MCP server.
import {
  type Failure,
  type JsonObject,
  type Mismatch,
  type ObjectShape,
  parserFor,
  shapeSchema,
  withDefaults,
} from '@subluminal/contracts';
import type { Fields, InferFields } from '@subluminal/contracts/shape';

export interface OwnServer {
  readonly name: string;
  readonly instructions?: string;
  readonly tools: readonly OwnTool[];
  close?(): Promise<void>;
}

export interface OwnTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. A tool that is not made by `ownTool` checks its arguments itself. */
  readonly inputSchema: JsonObject;
  readonly annotations?: OwnAnnotations;
  /** Why the arguments do not fit, so that nobody is asked about a call that cannot be made. */
  argsProblem?(args: JsonObject): string | undefined;
  call(args: JsonObject, use: ToolUseContext): Promise<OwnAnswer>;
}

export interface OwnAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolUseContext {
  /** The same for a step that is tried again after a crash: a tool that acts uses it as its idempotency key. */
  readonly key: string;
  readonly signal: AbortSignal;
}

export interface OwnAnswer {
  readonly text: string;
  readonly structured?: JsonObject;
  readonly isError?: boolean;
}

export type ErrorAnswer = OwnAnswer & { readonly isError: true };

/** Says why nothing was done. */
export function errorAnswer(why: string | Failure): ErrorAnswer {
  return { text: typeof why === 'string' ? why : `${why.message} ${why.fix}`, isError: true };
}

export interface OwnToolDefinition<F extends Fields> {
  readonly name: string;
  readonly description: string;
  /** Of `@subluminal/contracts/shape`. Closed, so that a misspelt argument is heard of. */
  readonly input: ObjectShape<F>;
  readonly annotations?: OwnAnnotations;
  call(args: InferFields<F>, use: ToolUseContext): Promise<OwnAnswer>;
}

const PROBLEMS_MAX = 5;

/** A tool whose schema and whose arguments come from one shape. */
export function ownTool<F extends Fields>(definition: OwnToolDefinition<F>): OwnTool {
  const { name, description, input, annotations } = definition;
  const parse = parserFor<InferFields<F>>(input);
  const read = (args: JsonObject) => parse(withDefaults(input, args));
  return {
    name,
    description,
    inputSchema: shapeSchema(input),
    ...(annotations !== undefined && { annotations }),
    argsProblem: (args) => {
      const given = read(args);
      return given.ok ? undefined : problemsIn(given.mismatches);
    },
    call: async (args, use) => {
      const given = read(args);
      if (!given.ok) return errorAnswer(problemsIn(given.mismatches));
      return definition.call(given.value, use);
    },
  };
}

function problemsIn(mismatches: readonly Mismatch[]): string {
  const lines = mismatches.slice(0, PROBLEMS_MAX).map(({ path, problem, expected, got }) => {
    const at = path.join('.') || 'the arguments';
    if (problem === 'unknown') return `${at}: there is no such argument.`;
    return `${at}: expected ${expected}, got ${got}.`;
  });
  return `The arguments do not fit.\n${lines.join('\n')}`;
}
