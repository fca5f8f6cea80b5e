// Runs the approval channels that the configuration names, with their secrets.
import { isFailure } from '@subluminal/contracts';
import type { Desk } from '../../stores/approvals/index.ts';
import {
  type ApprovalSettings,
  type Config,
  type Env,
  type HomePaths,
  readSecretRef,
  secretSettings,
  userHome,
} from '../../stores/config/index.ts';
import { resolveBindings } from '../../stores/vault/index.ts';
import type { Callback, Callbacks } from '../api/index.ts';
import {
  APPROVAL_CHANNELS,
  type ApprovalChannel,
  type RunningChannel,
} from '../approval-channels/index.ts';

interface ChannelsOptions {
  readonly desk: Desk;
  readonly settings: ApprovalSettings;
  readonly config: Config;
  readonly paths: Pick<HomePaths, 'home'>;
  readonly env: Env;
  readonly log: (message: string) => void;
  readonly channels?: readonly ApprovalChannel[];
}

export interface Channels {
  /** Where answers come in, by path. */
  readonly callbacks: Callbacks;
  readonly names: readonly string[];
  stop(): Promise<void>;
}

export async function startChannels(options: ChannelsOptions): Promise<Channels> {
  const { desk, settings, env, log, channels = APPROVAL_CHANNELS } = options;
  const running: RunningChannel[] = [];
  const names: string[] = [];
  const callbacks = new Map<string, Callback>();
  for (const channel of channels) {
    const { name } = channel;
    const configured = channel.configure(settings);
    if (configured === null) continue;
    const secrets = await fetchSecrets(name, configured.secretRefs, options);
    if (typeof secrets === 'string') {
      // It could neither prove itself nor know who answers.
      log(`approvals by ${name} are off: ${secrets}`);
      continue;
    }
    const started = configured.start({ desk, secrets, env });
    running.push(started.running);
    names.push(name);
    if (started.callback !== undefined) callbacks.set(started.callback.path, started.callback);
  }
  return {
    callbacks,
    names,
    stop: async () => void (await Promise.all(running.map((channel) => channel.stop()))),
  };
}

/** Fetches the secrets of a channel from where servers get theirs; a text says which one is missing. */
async function fetchSecrets(
  channel: string,
  refs: { readonly [key: string]: string },
  { config, paths, env }: ChannelsOptions,
): Promise<{ readonly [key: string]: string } | string> {
  const bindings = Object.entries(refs).flatMap(([key, ref]) => {
    const read = readSecretRef(ref, undefined);
    if (isFailure(read)) return [];
    return [{ injectAs: key, source: read.source, secretRef: read.secretRef, redact: true }];
  });
  const resolved = await resolveBindings({
    serverName: 'approvals',
    servers: new Map([['approvals', { secretBindings: bindings }]]),
    env,
    home: paths.home,
    userHome: userHome(env),
    settings: secretSettings(config),
  });
  const found = resolved.serverEnv();
  const values: { [key: string]: string } = {};
  for (const key of Object.keys(refs)) {
    const isBound = bindings.some(({ injectAs }) => injectAs === key);
    const value = isBound ? (found[key]?.trim() ?? '') : '';
    const problem = resolved.problems.find(({ injectAs }) => injectAs === key);
    const why = problem?.message.replace(/\.$/, '') ?? 'it is empty';
    if (value === '') return `the secret approvals.${channel}.${key} cannot be had: ${why}.`;
    values[key] = value;
  }
  return values;
}
