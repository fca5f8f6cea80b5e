// npm leaves a platform's package out of the lockfile when the registry it asks has none, and then
// refuses that very lockfile in `npm ci`. Here is what is missing, and what belongs there.

export interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: { readonly [name: string]: string };
}

export type LockPackages = { readonly [place: string]: LockEntry };

export interface Missing {
  readonly name: string;
  readonly version: string;
  /** Undefined when the name tells no platform, and so nothing can be made up for it. */
  readonly entry: LockEntry | undefined;
}

const SYSTEMS = new Set(
  'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' '),
);
const PROCESSORS = new Set(
  'arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64'.split(' '),
);
const LIBRARIES: { readonly [word: string]: string } = {
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musl: 'musl',
  musleabihf: 'musl',
};
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const NESTED = '/node_modules/';

/** The optional dependencies that the lockfile names but does not hold. */
export function missingEntries(packages: LockPackages): readonly Missing[] {
  return Object.entries(packages).flatMap(([place, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !isHeld(packages, place, name))
      .map(([name, version]) => ({ name, version, entry: platformEntry(name, version, parent) })),
  );
}

/** Looks where Node would look: beside the package, then upwards. */
function isHeld(packages: LockPackages, place: string, name: string): boolean {
  const own = place === '' ? '' : `${place}/`;
  if (packages[`${own}node_modules/${name}`] !== undefined) return true;
  if (place === '') return false;
  const above = place.includes(NESTED) ? place.slice(0, place.lastIndexOf(NESTED)) : '';
  return isHeld(packages, above, name);
}

/** Pinned by its version; the integrity is unknown, for nobody here has seen the package. */
function platformEntry(name: string, version: string, parent: LockEntry): LockEntry | undefined {
  const words = name.split(/[/-]/);
  const os = words.find((word) => SYSTEMS.has(word));
  const cpu = words.find((word) => PROCESSORS.has(word));
  const libc = os === 'linux' ? LIBRARIES[words.at(-1) ?? ''] : undefined;
  if (cpu === undefined || !EXACT.test(version)) return undefined;
  return {
    version,
    cpu: [cpu],
    ...(parent.dev === true && { dev: true }),
    ...(libc !== undefined && { libc: [libc] }),
    optional: true,
    ...(os !== undefined && { os: [os] }),
  };
}

/** The same packages with what was missing, in npm's own order. */
export function complete(packages: LockPackages): LockPackages {
  const made = missingEntries(packages).flatMap(({ name, entry }): [string, LockEntry][] =>
    entry === undefined ? [] : [[`node_modules/${name}`, entry]],
  );
  const order = new Intl.Collator('en').compare;
  const all = Object.entries({ ...packages, ...Object.fromEntries(made) });
  return Object.fromEntries(all.toSorted(([left], [right]) => order(left, right)));
}
