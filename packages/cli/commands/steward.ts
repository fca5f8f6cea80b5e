import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Failure, failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
import { attempt, ensurePrivateFolder, processEnded } from '@subluminal/plane/os';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  type Outcome,
  optional,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { packageFile } from '../input/package-file.ts';
import { mayAct } from '../input/require-person.ts';
import { costText } from '../ledger/turn-text.ts';
import { chat as talk } from '../steward/chat.ts';
import { terminalPerson } from '../steward/decide-change.ts';
import {
  ownSteward,
  runningSteward,
  type StewardHome,
  startBehind,
  stewardAnswer,
  stewardHome,
} from '../steward/steward-home.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, harmlessLine, plural, shortened } from '../terminal/text.ts';
import { untilSignal } from '../terminal/until-signal.ts';

const CONFIG = textOption('FOLDER', 'The configuration folder; steward/config of the home');
const MESSAGE_BYTES_MAX = 400_000;
const LOG_SHOWN_LENGTH_MAX = 500;
/** The line that a command ends with which fails. */
const OWN_ERROR = /^sub: (.{1,500}) \[SUB_\w+\]$/;
const STOP_MS = 20_000;
const REQUEST_LENGTH_MAX = 60;
const BROKEN_CONFIG = 'The configuration is broken, and the last good one is in force:';
const RESTART = 'Changed, and in force after `sub steward stop` and `sub steward start`:';

export const init = defineCommand({
  description:
    'Writes the configuration folder of Steward, a git repository: permissions, integrations, guardrails and identity. Says which model it will use: a local one by its address, one with your own key from the environment, or the gateway of your team.',
  options: {
    config: CONFIG,
    'model-url': textOption('URL', "The address of a local server that speaks OpenAI's chat wire"),
    model: textOption('NAME', 'The name of the model there'),
    anthropic: 'Use Anthropic, with the key in ANTHROPIC_API_KEY',
    openai: 'Use OpenAI, with the key in OPENAI_API_KEY',
    gateway: 'Use the gateway of the team (`sub login`)',
  },
  examples: [
    'sub steward init',
    'sub steward init --model-url http://127.0.0.1:11434/v1 --model llama3.3',
    'sub steward init --anthropic',
  ],
  exitCodes: { 0: 'the folder is written', 2: 'wrong flags, or a folder that is there already' },
  requires: 'person',
  run: async ({ options }, io) => {
    const place = stewardHome(options.config);
    const { chooseModel } = await import('../steward/choose-model.ts');
    const { writeStewardConfig } = await import('@subluminal/steward/config');
    const chosen = orThrow(await chooseModel(options, io));
    const example = orThrow(packageFile('examples', 'steward'));
    orThrow(ensurePrivateFolder(place.home));
    const { model, guardian } = chosen;
    const models = { agent: [model], ...(guardian !== undefined && { guardian: [guardian] }) };
    const folder = place.configFolder;
    const { files } = orThrow(await writeStewardConfig({ folder, example, models }));
    const where = options.config === undefined ? '' : ` --config ${folder}`;
    const lines = [
      chosen.why,
      `Wrote ${plural(files.length, 'file')} to ${folder}.`,
      `Next: sub steward chat${where}`,
    ];
    return printout({ folder, files, model, guardian }, lines.map(harmlessLine).join(''));
  },
});

export const start = defineCommand({
  description:
    'Starts Steward in the background. It answers on a socket of the home, for you alone, and goes on with tasks that were interrupted.',
  options: { config: CONFIG, foreground: 'Stay in the foreground until Ctrl-C' },
  examples: ['sub steward start', 'sub steward start --foreground'],
  exitCodes: { 0: 'it runs, or ran and has ended', 2: 'wrong flags, or it did not start' },
  requires: 'person',
  run: async ({ options }, io) => {
    const place = stewardHome(options.config);
    if (options.foreground) return serve(place, io);
    const before = await runningSteward(place);
    if (before !== undefined) {
      return otherConfig(before, options.config, place) ?? statusOutcome(before);
    }
    const started = await startBehind(place, io);
    return isFailure(started) ? withLastWords(started, place) : statusOutcome(started);
  },
});

/** One that runs with another folder than the one that was named. */
function otherConfig(
  { config_folder }: StewardAnswers['status'],
  named: string | undefined,
  { configFolder }: StewardHome,
): Failure | undefined {
  if (named === undefined || config_folder === configFolder) return undefined;
  const message = `Steward runs with another configuration, ${config_folder}.`;
  return failure(
    'SUB_STEWARD_START',
    message,
    'Leave out --config, or run `sub steward stop` first.',
  );
}

async function serve(place: StewardHome, io: Io): Promise<Outcome> {
  process.umask(0o077);
  const log = (line: string) =>
    io.err.write(`${new Date().toISOString()} steward: ${harmless(line)}\n`);
  const steward = await ownSteward(place, { io, log });
  await untilSignal(async ({ signal }) => {
    log(`It answers on ${steward.socket}.`);
    if (!signal.aborted) await once(signal, 'abort');
  });
  await steward.close();
  return done(EXIT.fine);
}

/** The end of the log, as a cause. */
function withLastWords(told: Failure, { log }: StewardHome): Failure {
  const text = attempt(() => readFileSync(log, 'utf8')) ?? '';
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const [, said] = OWN_ERROR.exec(line) ?? [];
  if (said !== undefined) return { ...told, message: said, fix: `Its log is ${log}.` };
  const cause = line === '' ? '' : ` It ends: ${line.slice(-LOG_SHOWN_LENGTH_MAX)}`;
  return { ...told, message: `${told.message}${cause}` };
}

export const chat = defineCommand({
  description:
    'Talks with Steward: with the one that runs, or with one that lives as long as the chat. Steps are shown as they happen, and a call that needs you is shown whole and asks y, n or d. A change that was proposed is shown as a diff and asks y, n or l (later). Ctrl-C stops the task, and leaves when it comes again. With a message, or with one from a pipe, it sends that, prints the answer and ends; without a terminal, what needs you waits for `sub approvals` and `sub steward review`.',
  args: { message: optional('What to say; without it, a conversation') },
  options: { config: CONFIG },
  hasJson: false,
  examples: ['sub steward chat', "sub steward chat 'What is on my calendar today?'"],
  exitCodes: {
    0: 'the task was done, or the conversation ended',
    1: 'the task was stopped or failed',
    2: 'wrong flags, or Steward did not start',
  },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const place = stewardHome(options.config);
    const message = args.message !== '' ? args.message : await pipedMessage(io);
    const running = await runningSteward(place);
    const other = running && otherConfig(running, options.config, place);
    if (other !== undefined) return other;
    const log = (line: string) => io.err.write(harmlessLine(`steward: ${line}`));
    const own = running !== undefined ? undefined : await ownSteward(place, { io, log });
    try {
      const hasWorked = await talk({ socket: place.socket, message }, io);
      return done(hasWorked ? EXIT.fine : EXIT.findings);
    } finally {
      await own?.close();
    }
  },
});

/** Undefined where a person types. */
async function pipedMessage({ stdin, stdinIsTerminal }: Io): Promise<string | undefined> {
  if (stdinIsTerminal) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > MESSAGE_BYTES_MAX) {
      orThrow(badUsage('the message is too long.', 'Write a shorter one, or name a file in it.'));
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8').trim();
  return text === ''
    ? orThrow(badUsage('there is no message.', 'Give one, or pipe one in.'))
    : text;
}

export const status = defineCommand({
  description:
    'Shows whether Steward runs: its tasks, what the models of this day have cost by purpose, its channels, and what waits for you.',
  options: { ack: 'Acknowledge the alerts that are shown' },
  examples: ['sub steward status', 'sub steward status --ack', 'sub steward status --json'],
  exitCodes: {
    0: 'it runs',
    1: 'it does not run',
    2: 'wrong flags, or an agent that acknowledges',
  },
  run: async ({ options: { ack } }, io) => {
    const told = await runningSteward(stewardHome());
    if (!ack || told === undefined) return statusOutcome(told);
    const forbidden = mayAct('person', io);
    if (forbidden !== undefined) return forbidden;
    const ids = told.alerts.filter(isNew).map(({ id }) => id);
    orThrow(await stewardAnswer('alerts/acknowledge', { ids, ...terminalPerson() }));
    return statusOutcome(told);
  },
});

function isNew({ acknowledged }: StewardAnswers['status']['alerts'][number]): boolean {
  return acknowledged === null;
}

function statusOutcome(told: StewardAnswers['status'] | undefined): Outcome {
  if (told === undefined) {
    return printout({ running: false }, 'Steward does not run.\n', EXIT.findings);
  }
  const { pid, version, config_folder, open_tasks, spending, channels } = told;
  const { pending_confirmations: calls, pending_changes: changes, alerts } = told;
  const { config_problems: problems, restart_needed: waits } = told;
  const news = alerts.filter(isNew);
  const lines = [
    `Steward runs (pid ${pid}, version ${version}), configured by ${config_folder}.`,
    open_tasks.length === 0 ? 'No task is open.' : `${plural(open_tasks.length, 'open task')}:`,
    ...open_tasks.map(
      ({ state, request, steps, cost_micros }) =>
        `  ${state}: ${shortened(harmless(request), REQUEST_LENGTH_MAX)} (${plural(steps.length, 'step')}, ${costText(cost_micros)})`,
    ),
    spending.length === 0 ? 'No model was asked today.' : 'Today (UTC):',
    ...spending.map(
      ({ purpose, turns, steps, cost_micros }) =>
        `  ${purpose}: ${plural(turns, 'turn')}, ${plural(steps, 'step')}, ${costText(cost_micros)}`,
    ),
    ...(told.shared_model === null ? [] : [sharedModelLine(told.shared_model)]),
    ...(problems.length === 0 ? [] : [BROKEN_CONFIG]),
    ...problems.map((problem) => `  ${problem}`),
    ...(waits.length === 0 ? [] : [`${RESTART} ${waits.join(', ')}.`]),
    ...channels.map(({ name, trouble }) => `Channel ${name}: ${trouble ?? 'works'}`),
    ...(news.length === 0 ? [] : [`${plural(news.length, 'new alert')} within a day:`]),
    ...news.map(({ text, count }) => `  ${text}${count === 1 ? '' : ` (${count} times)`}`),
    memoryLine(told.memory),
    `${plural(calls, 'call')} and ${plural(changes, 'change')} wait for you.`,
  ];
  return printout({ running: true, ...told }, lines.map(harmlessLine).join(''));
}

function sharedModelLine(model: string): string {
  return `One model, ${model}, is both agent and guardian: what fools the one may fool the other. Name another, smaller one under models.guardian of integrations.yaml.`;
}

function memoryLine(memory: StewardAnswers['status']['memory']): string {
  const { engine, vectors, trouble, waiting, last_audit } = memory;
  const search = vectors === null ? `by words alone (${trouble ?? ''})` : `by ${vectors}`;
  const findings =
    last_audit === null ? '' : `, ${plural(last_audit.findings, 'finding')} at the last audit`;
  return `Memory: ${engine}, searched ${search}; ${waiting} to review${findings}.`;
}

export const stop = defineCommand({
  description: 'Ends Steward. Tasks that are open go on at the next start.',
  examples: ['sub steward stop'],
  exitCodes: { 0: 'it does not run', 2: 'wrong flags, or it has not ended' },
  requires: 'person',
  run: async () => {
    const running = await runningSteward(stewardHome());
    if (running === undefined) return printout({ stopped: null }, 'Steward does not run.\n');
    const { pid } = running;
    attempt(() => process.kill(pid, 'SIGTERM'));
    if (await processEnded(pid, STOP_MS)) {
      return printout({ stopped: pid }, `Steward (pid ${pid}) has ended.\n`);
    }
    const message = `Steward (pid ${pid}) has not ended in time.`;
    return failure('SUB_STEWARD_START', message, 'Look at run/steward.log of the home.');
  },
});
