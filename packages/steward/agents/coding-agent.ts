// The user's own coding agent, as a process under `sub run`: a run of its own in the ledger, with the policy of its
// folder, and without the secrets of our environment.
import { SETTING_KEYS, SETTINGS } from '@subluminal/plane/config';
import { cleanEnvironment, type ProgramResult, runProgram } from '../process/index.ts';
import { fileRoots } from '../staging/index.ts';

/** Whatever works outside of this process. */
export interface CodingAgent {
  /** Never throws. */
  work(order: CodingOrder): Promise<CodingOutcome>;
}

export interface CodingOrder {
  /** Of the sub-agent. */
  readonly id: string;
  /** The run that it works for. */
  readonly runId: string | null;
  readonly request: string;
  readonly signal: AbortSignal;
}

export interface CodingOutcome {
  readonly isDone: boolean;
  readonly text: string;
}

export interface CodingSettings {
  readonly client: 'claude' | 'codex';
  readonly folder: string;
  readonly args: readonly string[];
}

export interface CodingAgentOptions {
  readonly settings: CodingSettings;
  /** The launcher of `sub`. */
  readonly sub: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** Folders that it never works in: our own state and configuration. */
  readonly closed: readonly string[];
  /** What it says without secrets. */
  readonly redact: (text: string) => string;
}

/** Where the client finds its own login, and the network. */
const PASSED = [
  ...['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'XDG_CONFIG_HOME', 'SUB_HOME'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
/** Enough for `sub run` to end the client and to write down how it ended. */
const GRACE_MS = 10_000;
const ERRORS_LENGTH_MAX = 4_000;

export function codingAgent(options: CodingAgentOptions): CodingAgent {
  return {
    work: async ({ id, runId, request, signal }) => {
      const { settings, sub, closed, redact } = options;
      const folder = fileRoots({ folders: [settings.folder], closed }).locate('.');
      if (typeof folder === 'string') return { isDone: false, text: folder };
      if (!folder.isFolder) return { isDone: false, text: `There is no ${settings.folder}.` };
      const governed = [
        ...['run', '--quiet', '--hooks', '--agent-id', 'steward-coding'],
        ...['--client', settings.client, '--meta', `sub_agent=${id}`],
      ];
      const result = await runProgram({
        words: [process.execPath, sub, ...governed, '--', ...clientWords(settings)],
        cwd: folder.path,
        env: environmentOf(options, runId),
        // Not as a word: others on this machine can read those, and they are limited in length.
        input: request,
        ...{ mixesErrors: false, graceMs: GRACE_MS, signal },
      });
      const { isDone, text } = outcomeOf(result);
      return { isDone, text: redact(text) };
    },
  };
}

function clientWords({ client, args }: CodingSettings): readonly string[] {
  return client === 'claude' ? ['claude', ...args, '-p'] : ['codex', 'exec', ...args, '-'];
}

/** `sub run` takes the run that is named there for its parent. */
function environmentOf({ env }: CodingAgentOptions, runId: string | null) {
  const settings = SETTING_KEYS.map((key) => SETTINGS[key].env);
  const parent = runId === null ? {} : { SUB_RUN_ID: runId, SUB_RUN_HOSTED: '1' };
  return { ...cleanEnvironment(env, [...PASSED, ...settings]), ...parent };
}

function outcomeOf(result: ProgramResult): CodingOutcome {
  if (result.kind === 'failed') {
    return { isDone: false, text: `It cannot be started (${result.code}).` };
  }
  const { exitCode, why, output, errors } = result;
  const said = output.trim();
  if (why === 'exit' && exitCode === 0) {
    return { isDone: true, text: said === '' ? 'It ended without a word.' : said };
  }
  const end = exitCode === undefined ? 'by a signal' : `with exit code ${exitCode}`;
  const head = why === 'exit' ? `It ended ${end}.` : 'It was stopped while it worked.';
  const parts = [head, said, errors.trim().slice(-ERRORS_LENGTH_MAX)];
  return { isDone: false, text: parts.filter((part) => part !== '').join('\n') };
}
