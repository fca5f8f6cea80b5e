// What keeps a shim from standing in front of a server, or from being trusted there.
import { isObject } from '@subluminal/contracts';

/** What a shim takes; it would refuse to start under a name that is longer. */
const NAME_LENGTH_MAX = 256;
/** The environment of an entry is that of its shim too: these would change or replace the shim. */
const HAZARDS = /^(?:SUB_.*|HOME|NODE_OPTIONS|NODE_PATH|OPENSSL_(?:CONF|MODULES)|LD_.*|DYLD_.*)$/;
/** What people do set, and what loads no code. */
const HARMLESS_OPTIONS =
  /^(?:--(?:max-old-space-size|max-semi-space-size|stack-trace-limit)=\d+|--(?:no-warnings|no-deprecation|trace-warnings|enable-source-maps|use-system-ca|use-openssl-ca))(?:\s+|$)/;

/** In words that end no sentence; undefined when nothing is in the way. */
function obstacleIn(name: string, env: unknown): string | undefined {
  if (name === '') return 'it has no name';
  if (name.length > NAME_LENGTH_MAX) return 'its name is too long';
  // Clients expand variables in arguments: it would run under another name than policies know.
  if (name.includes('${') || name.includes('\0')) return 'its name cannot be handed on';
  const names = isObject(env) ? Object.keys(env).filter((one) => isHazard(one, env[one])) : [];
  if (names.length === 0) return undefined;
  return `its env sets ${names.join(', ')}, which would act on the shim`;
}

function isHazard(name: string, value: unknown): boolean {
  if (!HAZARDS.test(name.toUpperCase())) return false;
  return name !== 'NODE_OPTIONS' || typeof value !== 'string' || !areHarmless(value);
}

function areHarmless(options: string): boolean {
  let rest = options.trim();
  while (rest !== '') {
    const [word] = HARMLESS_OPTIONS.exec(rest) ?? [];
    if (word === undefined) return false;
    rest = rest.slice(word.length);
  }
  return true;
}

export { obstacleIn };
