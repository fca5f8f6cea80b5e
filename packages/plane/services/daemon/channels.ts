// The ways to reach people that the configuration names, run by the daemon.

import type { Desk } from '../../stores/approvals/index.ts';
import type { ApprovalSettings, Env } from '../../stores/config/index.ts';
import type { Callback, Callbacks } from '../api/index.ts';
import {
  desktop,
  type RunningChannel,
  SLACK_BODY_BYTES_MAX,
  slack,
  slackAnswers,
  WEBHOOK_BODY_BYTES_MAX,
  webhook,
  webhookAnswers,
} from '../approval-channels/index.ts';
import type { ChannelSecrets } from './channel-secrets.ts';

interface ChannelsOptions {
  readonly desk: Desk;
  readonly settings: ApprovalSettings;
  readonly secrets: ChannelSecrets;
  readonly env: Env;
  readonly log: (message: string) => void;
}

export interface Channels {
  /** Where answers come in, by path. */
  readonly callbacks: Callbacks;
  readonly names: readonly string[];
  stop(): Promise<void>;
}

const WEBHOOK_PATH = '/approvals/webhook';
const SLACK_PATH = '/approvals/slack/actions';

export function startChannels(options: ChannelsOptions): Channels {
  const running: RunningChannel[] = [];
  const names: string[] = [];
  const callbacks = new Map<string, Callback>();
  for (const start of [startDesktop, startWebhook, startSlack]) {
    const started = start(options);
    if (started === undefined) continue;
    running.push(started.channel);
    names.push(started.name);
    if (started.callback !== undefined) callbacks.set(...started.callback);
  }
  return {
    callbacks,
    names,
    stop: async () => void (await Promise.all(running.map((channel) => channel.stop()))),
  };
}

interface Started {
  readonly name: string;
  readonly channel: RunningChannel;
  readonly callback?: readonly [path: string, callback: Callback];
}

function startDesktop({ desk, settings, env }: ChannelsOptions): Started | undefined {
  if (settings.desktop === null) return undefined;
  const { platform } = process;
  const channel = desktop.start(desk, { ...settings.desktop, platform, env });
  return { name: desktop.name, channel };
}

function startWebhook({ desk, settings, ...options }: ChannelsOptions): Started | undefined {
  if (settings.webhook === null) return undefined;
  const { secretRef: _ref, ...config } = settings.webhook;
  const secret = secretOf(options, 'webhook.secret');
  if (secret === undefined) return undefined;
  const answer = webhookAnswers(desk, secret);
  return {
    name: webhook.name,
    channel: webhook.start(desk, { ...config, secret }),
    callback: [WEBHOOK_PATH, { bytesMax: WEBHOOK_BODY_BYTES_MAX, answer }],
  };
}

function startSlack({ desk, settings, ...options }: ChannelsOptions): Started | undefined {
  if (settings.slack === null) return undefined;
  const { tokenRef: _token, signingSecretRef: _signing, ...rest } = settings.slack;
  const token = secretOf(options, 'slack.token');
  const signingSecret = secretOf(options, 'slack.signing_secret');
  if (token === undefined || signingSecret === undefined) return undefined;
  const config = { ...rest, token, signingSecret };
  return {
    name: slack.name,
    channel: slack.start(desk, config),
    callback: [SLACK_PATH, { bytesMax: SLACK_BODY_BYTES_MAX, answer: slackAnswers(desk, config) }],
  };
}

/** A channel without its secret is off: it could neither prove itself nor know who answers. */
function secretOf(
  { secrets, log }: Pick<ChannelsOptions, 'secrets' | 'log'>,
  key: string,
): string | undefined {
  const value = secrets.value(key);
  if (value !== undefined && value !== '') return value;
  const why = secrets.problems.get(key) ?? 'it is empty';
  const [channel] = key.split('.');
  log(`approvals by ${channel} are off: the secret approvals.${key} cannot be had: ${why}.`);
  return undefined;
}
