// What must not travel with the project: where it was built, and work that was left open. Words are
// assembled here, so that this file doesn't find itself.
import type { Finding, Source } from '../source.ts';

interface Trace {
  readonly pattern: RegExp;
  readonly message: string;
  /** Tests and corpora feed such text to the product on purpose. */
  readonly inTests: boolean;
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const PRIVATE_NETS = [
  `10(?:\\.${OCTET}){3}`,
  `172\\.(?:1[6-9]|2\\d|3[01])(?:\\.${OCTET}){2}`,
  `192\\.168(?:\\.${OCTET}){2}`,
];
const REGISTRIES = ['npmjs', 'yarnpkg', 'npmmirror'];
const MARKERS = [
  ['TO', 'DO'],
  ['FIX', 'ME'],
  ['X', 'XX'],
  ['T', 'BD'],
  ['HA', 'CK'],
];
const LEFT_OPEN = [
  ['place', 'holder'],
  ['st', 'ub'],
].map((parts) => parts.join(''));

// A version such as 10.1.2.3-beta or a longer dotted number is no address; a whole net is no host.
const ADDRESS = new RegExp(`(?<![\\w.-])(?:${PRIVATE_NETS.join('|')})(?![\\w.-]*\\w|/\\d)`);
const REGISTRY = new RegExp(`\\bregistry\\.(?:${REGISTRIES.join('|')})\\.[a-z]+`);
const MACHINE = new RegExp(
  `(?<![\\w.~$}/-])/(?:${['work', 'root'].join('|')}|home/(?!node/)\\w[\\w-]*|Users/\\w[\\w-]*)/`,
);
const MARKER = new RegExp(`\\b(?:${MARKERS.map((parts) => parts.join('')).join('|')})\\b`);

const TRACES: readonly Trace[] = [
  { pattern: ADDRESS, message: 'a private network address', inTests: true },
  { pattern: REGISTRY, message: 'the host of a package registry', inTests: false },
  { pattern: MACHINE, message: 'a path of one machine', inTests: true },
  { pattern: MARKER, message: 'a mark of unfinished work', inTests: false },
];
const OPEN_WORD = new RegExp(`\\b(?:${LEFT_OPEN.join('|')})s?\\b`, 'i');

export function traces(source: Source): readonly Finding[] {
  const { path, text, isTest, comments } = source;
  const wanted = TRACES.filter(({ inTests }) => !(isTest && inTests));
  const found = text.split('\n').flatMap((line, index) =>
    wanted.flatMap(({ pattern, message }) => {
      const match = pattern.exec(line)?.[0];
      const shown = `${message}: ${match}`;
      return match === undefined ? [] : [{ path, line: index + 1, rule: 'traces', message: shown }];
    }),
  );
  const open = isTest ? [] : comments.filter((comment) => OPEN_WORD.test(comment.text));
  const message = 'the comment speaks of code that is not there yet';
  return [...found, ...open.map(({ line }) => ({ path, line, rule: 'traces', message }))];
}
