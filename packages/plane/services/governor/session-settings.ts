// What the settings of this machine say about every governed session: where its events go, its bounds and its gates.
import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import type { Config, LoadResult } from '../../stores/config/index.ts';
import { ledgerStarter } from '../daemon/ledger-starter.ts';
import { type BatchingSink, fileSink, ledgerSink, offSink } from '../sink/index.ts';
import { type GatesLifecycle, type GatesLifecycleOptions, openGates } from './gates-lifecycle.ts';
import type { SessionParts } from './governed-session.ts';
import { folderOpenToOthers } from './run-hub.ts';

export type LoadedSettings = Extract<LoadResult, { readonly ok: true }>;

/** A text says why there is no place for events. */
export function openEventSink(
  env: { readonly [name: string]: string | undefined },
  { config, paths }: LoadedSettings,
  warn: (text: string) => void,
): BatchingSink | string {
  const target = config['events.sink'];
  switch (target.kind) {
    case 'off':
      return offSink();
    case 'file': {
      const sink = fileSink(target.path, { queueBytes: config['limits.queue_bytes'] });
      return isFailure(sink) ? `${sink.message} ${sink.fix}` : sink;
    }
    case 'ledger': {
      const problem = folderOpenToOthers(config['ledger.socket'], config);
      if (problem !== undefined) return problem;
      return ledgerSink({
        socketPath: config['ledger.socket'],
        spoolDir: paths.spool,
        // A name that the server does not know: it may reach the same socket.
        producer: uuidv7(),
        limits: { queueBytes: config['limits.queue_bytes'] },
        onNobody: ledgerStarter({ env, paths, config }, warn),
      });
    }
  }
}

export function sessionLimits(config: Config): SessionParts['limits'] {
  const isCapped = config.profile === 'production';
  return {
    inspectBytesMax: config['limits.max_inspect_bytes'],
    messageBytesMax: isCapped ? config['limits.max_message_bytes'] : Number.POSITIVE_INFINITY,
    previewBytesMax: config['previews.enabled'] ? config['limits.max_preview_bytes'] : 0,
    orphanMs: config['limits.request_timeout_ms'],
    graceMs: config['shutdown.grace_ms'],
    termMs: config['shutdown.term_grace_ms'],
  };
}

/** What the settings do not say about the gates of one server. */
export type ServerGateFacts = Omit<
  GatesLifecycleOptions,
  'home' | 'manifests' | 'pinsMode' | 'profile' | 'inspectBytesMax'
>;

export function gateOptions(
  { config, paths }: LoadedSettings,
  known: ServerGateFacts,
): GatesLifecycleOptions {
  return {
    ...known,
    home: paths.home,
    manifests: config['surface.manifests'],
    pinsMode: config['pins.mode'],
    profile: config.profile,
    inspectBytesMax: config['limits.max_inspect_bytes'],
  };
}

/** The gates beside the rules; a text says why there are none, and the server must not start. */
export async function openServerGates(
  settings: LoadedSettings,
  warn: (text: string) => void,
  known: ServerGateFacts,
): Promise<GatesLifecycle | string> {
  const opened = await openGates(gateOptions(settings, known));
  if (!opened.ok) return opened.message;
  if (opened.warning !== undefined) warn(opened.warning);
  return opened.guarding;
}
