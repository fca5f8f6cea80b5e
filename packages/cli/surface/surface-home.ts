// The configuration of manifests and pins.
import { type Failure, failure, type Profile } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import { type ConfigProblem, type HomePaths, loadConfig } from '@subluminal/plane/config';
import { openPins, type PinsProblem } from '@subluminal/plane/surface';
import { asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';

export interface SurfaceHome {
  readonly kind: 'home';
  readonly paths: HomePaths;
  /** The folder of the manifests. */
  readonly folder: string;
  readonly profile: Profile;
}

export async function surfaceHome(): Promise<SurfaceHome | Failure> {
  const loaded = await loadConfig({ env: process.env, cwd: process.cwd() });
  if (loaded.ok) {
    const { config, paths } = loaded;
    return { kind: 'home', paths, folder: config['surface.manifests'], profile: config.profile };
  }
  const [first] = loaded.problems;
  if (first === undefined) throw new Error('a configuration that failed has a problem');
  const rest = loaded.problems.length - 1;
  const told = problemFailure(first);
  return rest === 0 ? told : { ...told, fix: `${told.fix} (${rest} more: see \`sub doctor\`.)` };
}

/** The code stands at the end of a failure, and only there. */
export function problemFailure({ code, where, message, fix }: ConfigProblem): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

interface ReadPins {
  readonly kind: 'pins';
  readonly store: PinStore;
}

export function readPins({ home }: HomePaths): ReadPins | Failure {
  const opened = openPins(home);
  if (opened.ok) return { kind: 'pins', store: opened.store };
  return failure(opened.code, `the pins cannot be trusted: ${opened.message}.`, opened.fix);
}

export function pinsFailure({ code, message, fix }: PinsProblem): Failure {
  return failure(code, `${message}.`, fix);
}

/** Where nobody can be asked, a flag has to say it. */
export function cannotAsk(io: Io, isYes: boolean): Failure | undefined {
  if (isYes || (io.stdinIsTerminal && io.err.isTerminal)) return undefined;
  return failure('SUB_USAGE', 'there is nobody to ask: this is no terminal.', 'Add --yes.');
}

/** With `isYes` nobody is asked. */
export async function agrees(question: string, io: Io, isYes: boolean): Promise<boolean | Failure> {
  const person = asker(io, isYes);
  try {
    return await person.ask(question);
  } finally {
    await person.close();
  }
}
