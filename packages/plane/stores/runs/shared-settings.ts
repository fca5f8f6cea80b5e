// The settings that all shims of a run share, beside its profile and its policy: those by which an entry
// could show less to the gates, hold its tools against nothing, or send its events elsewhere.
import { type Config, SETTINGS } from '../config/index.ts';

const SHARED = [
  'events.sink',
  'ledger.socket',
  'pins.mode',
  'surface.manifests',
  'limits.max_inspect_bytes',
  'limits.max_message_bytes',
  'limits.max_preview_bytes',
  'previews.enabled',
  'redact.extra_patterns',
] as const satisfies readonly (keyof Config)[];

export type SharedConfig = Pick<Config, (typeof SHARED)[number]>;
export type SharedSettings = { readonly [name: string]: string };

/** By the name of the variable that sets it, and with the home folder. */
export function sharedSettings(config: SharedConfig, home: string): SharedSettings {
  const pairs = SHARED.map((key) => [SETTINGS[key].env, textOf(config, key)] as const);
  return { SUB_HOME: home, ...Object.fromEntries(pairs) };
}

function textOf(config: SharedConfig, key: (typeof SHARED)[number]): string {
  return key === 'events.sink' ? sinkText(config[key]) : JSON.stringify(config[key]);
}

/** As `--events` takes it. */
export function sinkText(sink: Config['events.sink']): string {
  return sink.kind === 'file' ? `file:${sink.path}` : sink.kind;
}
