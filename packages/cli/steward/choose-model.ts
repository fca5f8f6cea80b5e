// Which model a new Steward asks: by flags, by a key that is there, or by what the person types.
import type { Failure } from '@subluminal/contracts';
import { isPlainUrl } from '@subluminal/steward/config';
import { badUsage } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';

interface ModelFlags {
  readonly 'model-url'?: string | undefined;
  readonly model?: string | undefined;
  readonly anthropic: boolean;
  readonly openai: boolean;
  readonly gateway: boolean;
}

interface NamedModel {
  readonly provider: 'anthropic' | 'openai' | 'openai_compat' | 'gateway';
  readonly model: string;
  readonly base_url?: string;
  readonly key_ref?: string;
}

export interface ChosenModel {
  readonly kind: 'chosen';
  readonly why: string;
  readonly model: NamedModel;
  /** A smaller one of the same provider, where its name is known. */
  readonly guardian?: NamedModel;
}

interface OwnKey {
  readonly key: string;
  readonly model: string;
  readonly guardian: string;
}

const ANTHROPIC: OwnKey = {
  key: 'ANTHROPIC_API_KEY',
  model: 'claude-sonnet-4-5',
  guardian: 'claude-haiku-4-5',
};
const OPENAI: OwnKey = { key: 'OPENAI_API_KEY', model: 'gpt-5', guardian: 'gpt-5-mini' };
const FIX =
  'Give --model-url URL --model NAME for a local model, --anthropic, --openai or --gateway.';
const LINE_LENGTH_MAX = 2_048;

export async function chooseModel(flags: ModelFlags, io: Io): Promise<ChosenModel | Failure> {
  const given = [flags['model-url'] !== undefined, flags.anthropic, flags.openai, flags.gateway];
  if (given.filter(Boolean).length > 1) return badUsage('several models are chosen.', FIX);
  if (flags.model === '') return badUsage('the name of the model is empty.', 'Give it by --model.');
  const { env } = process;
  if (flags['model-url'] !== undefined) return localModel(flags['model-url'], flags.model);
  if (flags.anthropic) return keyed('anthropic', ANTHROPIC, flags.model);
  if (flags.openai) return keyed('openai', OPENAI, flags.model);
  if (flags.gateway) {
    const model = flags.model ?? ANTHROPIC.model;
    const why = `It asks ${model} at the gateway of your team.`;
    return { kind: 'chosen', why, model: { provider: 'gateway', model } };
  }
  if (env[ANTHROPIC.key]) return keyed('anthropic', ANTHROPIC, flags.model);
  if (env[OPENAI.key]) return keyed('openai', OPENAI, flags.model);
  if (!io.stdinIsTerminal || !io.err.isTerminal) return badUsage('no model is chosen.', FIX);
  return askPerson(io);
}

function keyed(
  provider: 'anthropic' | 'openai',
  { key, model: usual, guardian }: OwnKey,
  model = usual,
): ChosenModel {
  const found = process.env[key] ? 'is set' : 'is not set yet';
  const why = `It asks ${model} of ${provider}, and ${guardian} as guardian, with the key in ${key}, which ${found}.`;
  const named = (name: string) => ({ provider, model: name, key_ref: `env://${key}` });
  return { kind: 'chosen', why, model: named(model), guardian: named(guardian) };
}

function localModel(url: string, model: string | undefined): ChosenModel | Failure {
  if (!isPlainUrl(url)) {
    const fix =
      'Write it like http://127.0.0.1:11434/v1; a key belongs into integrations.yaml, as a reference.';
    return badUsage('the address of the model is no http or https URL without a password.', fix);
  }
  if (!model) return badUsage('the name of the model is missing.', FIX);
  const why = `It asks ${model} at ${url}, without a key.`;
  return { kind: 'chosen', why, model: { provider: 'openai_compat', base_url: url, model } };
}

async function askPerson(io: Io): Promise<ChosenModel | Failure> {
  io.err.write(
    `Neither ${ANTHROPIC.key} nor ${OPENAI.key} is set.\nThe address of a local model, such as http://127.0.0.1:11434/v1: `,
  );
  const lines = typedLines(io);
  const url = await lines.next();
  io.err.write('The name of the model there: ');
  const model = await lines.next();
  if (url.done === true || model.done === true) return badUsage('no model is chosen.', FIX);
  return localModel(url.value.trim(), model.value.trim());
}

async function* typedLines({ stdin }: Io): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stdin) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
    yield* lines;
  }
  return undefined;
}
