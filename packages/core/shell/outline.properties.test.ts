// The outline of any text: it is always there, always the same, and holds what bash would run.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellCorpus } from '../../../test/corpora/shell/read-corpus.ts';
import { runs } from '../../../test/runs.ts';
import { type CommandOutline, outlineCommand } from './outline.ts';

const LINES = ['everyday', 'tools', 'evasive'].flatMap(shellCorpus).map(({ line }) => line);
const LINE = fc.constantFrom(...LINES);

const FRAGMENT = fc.constantFrom(
  ...`( ) { } [[ ]] (( )) $( $(( \${ \` ' " \\ ; ;; & && | || < > << <<< <( >( # ! = += * ? [ ] ~ - -- $ @ if
  then else fi for in do done case esac while function f f() eval sh -c xargs find -exec {} + sudo env cd .. cat rm
  .env $X X=1 alias trap git show HEAD:x curl http://h.example EOF $'\\x' \${X%y} a=( \0 é`.split(
    /\s+/,
  ),
  ' ',
  '\n',
  '\t',
  '\r',
  '\uffff',
);
const TEXT = fc.array(FRAGMENT, { maxLength: 30 }).map((parts) => parts.join(''));

/** A line of the corpus with some of its characters taken out, doubled or replaced. */
const MUTATION = fc
  .tuple(LINE, fc.array(fc.tuple(fc.nat(), fc.nat(3), FRAGMENT), { minLength: 1, maxLength: 4 }))
  .map(([line, changes]) =>
    changes.reduce((text, [place, length, fragment]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + fragment + text.slice(at + length);
    }, line),
  );

function sizeOf(outline: CommandOutline): number {
  return JSON.stringify(outline).length;
}

describe('outlineCommand', () => {
  it.each([
    ['any text', fc.string({ unit: 'grapheme', maxLength: 200 })],
    ['signs of a shell in any order', TEXT],
    ['changed lines of the corpus', MUTATION],
  ])('answers for %s, and always the same', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (text) => {
        const outline = outlineCommand(text);
        expect(outlineCommand(text)).toEqual(outline);
        expect(sizeOf(outline)).toBeLessThan(4_000_000);
      }),
      runs(300),
    );
  });

  const long = Array.from({ length: 60 }, (_, index) => index);
  it.each<[string, string]>([
    ['substitutions', '$('.repeat(20_000)],
    ['arithmetic', '$(('.repeat(20_000)],
    ['brackets', '('.repeat(20_000)],
    ['lists in braces', '{a,b}'.repeat(2_000)],
    ['wrappers', `${'sudo '.repeat(5_000)}rm`],
    ['shells', 'sh -c "'.repeat(5_000)],
    ['eval', `${'eval '.repeat(5_000)}x`],
    [
      'functions that call two others',
      `${long.map((n) => `f${n}(){ f${n + 1}; f${n + 1}; };`).join('')}f0`,
    ],
    [
      'aliases of two others',
      `${long.map((n) => `alias a${n}='a${n + 1};a${n + 1}';`).join('')}a0`,
    ],
    ['commands', 'rm a;'.repeat(20_000)],
    ['words', `cat ${'x '.repeat(100_000)}`],
    ['stars behind a link', `ln -s a b; cat ${'*'.repeat(200_000)}`],
    ['slashes', `git clone '${'/'.repeat(200_000)}x'; ln -s '${'/'.repeat(200_000)}x' b`],
    ['brackets of an address', `curl 'file:///${'{['.repeat(100_000)}'`],
    ['commands in words', `frob ${"'cat x' --exec x -- ./x ".repeat(10_000)}`],
    ['pipes', `${'echo a |'.repeat(5_000)}sh`],
    ['names for many marks', `parallel ${'{} '.repeat(2_000)}::: ${'x '.repeat(2_000)}`],
    [
      'folders and names of find',
      `find ${'d '.repeat(500)}${'-name n '.repeat(100)}-exec rm {} {} +`,
    ],
  ])('reports very many %s as too large, or reads them all', (_name, line) => {
    const { opaque, programs, paths } = outlineCommand(line);
    const isTooLarge = opaque.some(({ why }) => why === 'too_large');
    expect(isTooLarge || programs.length + paths.length > 0).toBe(true);
    expect(programs.length).toBeLessThanOrEqual(10_000);
  });

  /** Whatever a line does, it does as well inside of these. */
  it.each<[string, (line: string) => string]>([
    ['a subshell', (line) => `(${line}\n)`],
    ['a group', (line) => `{ ${line}\n}`],
    ['a condition', (line) => `if true; then ${line}\nfi`],
    ['a loop', (line) => `while true; do ${line}\ndone`],
    ['a substitution', (line) => `echo "$(${line}\n)"`],
    ['a shell', (line) => `bash -c ${quoted(line)}`],
    ['eval', (line) => `eval ${quoted(line)}`],
    ['a here-document', (line) => `bash <<'A_B_C'\n${line}\nA_B_C`],
    ['a function', (line) => `g() { ${line}\n}; g`],
  ])('finds the same in %s', (_name, wrap) => {
    for (const line of LINES) {
      const inner = outlineCommand(line);
      const outer = outlineCommand(wrap(line));
      const names = (outline: CommandOutline) => outline.programs.map(({ name }) => name);
      const missing = {
        programs: names(inner).filter((name) => !names(outer).includes(name)),
        reads: inner.reads.filter((path) => !outer.reads.includes(path)),
        writes: inner.writes.filter((path) => !outer.writes.includes(path)),
        hosts: inner.hosts.filter((host) => !outer.hosts.includes(host)),
      };
      expect({ line, ...missing }).toEqual({
        line,
        programs: [],
        reads: [],
        writes: [],
        hosts: [],
      });
      expect(outer.opaque.length > 0 || inner.opaque.length === 0, line).toBe(true);
    }
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const PROGRAM = fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6');
/** Ways to write the name of a program. */
const WRITTEN = fc.tuple(PROGRAM, fc.nat(11)).map(([name, way]) => {
  const first = name.slice(0, 1);
  const rest = name.slice(1);
  return [
    name,
    `'${name}'`,
    `"${first}"${rest}`,
    `${first}\\${rest}`,
    `$'\\x70'${rest}`,
    `$(echo ${name})`,
    `\`echo ${name}\``,
    `{${name},a}`,
    `eval ${name}`,
    `eval 'X=${rest}; p$X'`,
    `command ${name}`,
    `\\${name} \\\n a`,
  ][way];
});
/** Ways to do something, or not to do it. */
const UNSURE = fc.constantFrom(
  (command: string) => command,
  (command: string) => `true && ${command}`,
  (command: string) => `false && ${command}`,
  (command: string) => `false || ${command}`,
  (command: string) => `( ${command}; )`,
  (command: string) => `{ ${command}; } | :`,
  (command: string) => `if false; then ${command}; fi`,
  (command: string) => `h() { ${command}; }`,
  (command: string) => `${command}; unset U; unset -f p1 p2 p3`,
  (command: string) => `: $(${command})`,
);
const SCRIPT = fc.letrec<{ command: string; simple: string }>((tie) => {
  const two = (join: (a: string, b: string) => string) => {
    return fc.tuple(tie('command'), tie('command')).map(([a, b]) => join(a, b));
  };
  return {
    simple: fc.oneof(
      WRITTEN.map((name) => `${name} a`),
      PROGRAM.map((name) => `V=${name}; $V`),
      PROGRAM.map((name) => `L=(${name} a); "\${L[@]}"`),
      PROGRAM.map((name) => `f() { "$@"; }; f ${name} b`),
      PROGRAM.map((name) => `for v in ${name} p1; do $v; done`),
      PROGRAM.map((name) => `W=${name}x; \${W%x}`),
      // What is set or defined here may not be.
      fc.tuple(PROGRAM, UNSURE).map(([name, unsure]) => `${unsure('U=0')}; ${name}$U`),
      fc.tuple(PROGRAM, UNSURE).map(([name, unsure]) => `${unsure(`${name}() { :; }`)}; ${name}`),
    ),
    command: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('simple'),
      two((a, b) => `${a}; ${b}`),
      two((a, b) => `${a} && ${b}`),
      two((a, b) => `${a} || ${b}`),
      two((a, b) => `${a} # c\n${b} # d\n:`),
      two((a, b) => `(${a}; ${b})`),
      two((a, b) => `{ ${a}\n ${b}; }`),
      two((a, b) => `if ${a}; then ${b}; else ${a}; fi`),
      two((a, b) => `while ${a}; do ${b}; break; done`),
      two((a, b) => `case x in y|z) ${a};; (x) ${b};; esac`),
      two((a, b) => `{ ${a}; } | { ${b}; }`),
      two((a, b) => `echo "$(${a})" \`${b}\``),
      two((a, b) => `read x <<E${a.length}\n$(${a})\nE${a.length}\n${b}`),
      two((a, b) => `[[ -n x && a < b ]] && ${a}; ! ${b}`),
      two((a, b) => `g() { ${a}\n}; g; (( 1 + $(${b}; echo 1) ))`),
      tie('command').map((a) => `eval ${quoted(a)}`),
    ),
  };
}).command;

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;
/** Nothing is found in an empty path, so that bash tells us instead what it would have run. */
const TOLD =
  'command_not_found_handle() { echo "$1" >&3; [[ $1 != p[135] ]]; }; PATH=/none; FUNCNEST=20';

describe.skipIf(!hasBash)('every program that bash runs', () => {
  it('is in the outline', () => {
    fc.assert(
      fc.property(fc.array(SCRIPT, { minLength: 20, maxLength: 20 }), (lines) => {
        const each = lines.map((line) => {
          return `( eval ${quoted(line)} ) </dev/null 3>&1 >/dev/null 2>&1; echo =`;
        });
        const { stdout } = spawnSync('bash', ['-c', [TOLD, ...each].join('\n')], {
          encoding: 'utf8',
          timeout: 20_000,
        });
        const ran = stdout
          .split('=\n')
          .map((text) => text.split('\n').filter((name) => name !== ''));
        for (const [index, line] of lines.entries()) {
          const { programs, opaque } = outlineCommand(line);
          if (opaque.some(({ why }) => why === 'too_large' || why === 'dynamic_program')) continue;
          const found = new Set(programs.map(({ name }) => name));
          const missing = (ran[index] ?? []).filter((name) => !found.has(name));
          expect({ line, missing }).toEqual({ line, missing: [] });
        }
        expect(ran.flat().length).toBeGreaterThan(0);
      }),
      runs(10),
    );
  });
});
