// Version control, package managers, builders and the like.
import { type SpecDraft, specsOf } from './spec.ts';

const NOTHING = { operands: ['none'] } as const satisfies SpecDraft;
const READS = {} as const satisfies SpecDraft;
const MESSAGE = { '-m --message': 'none', '-F --file -t --template': 'read' } as const;
const REMOTE = { operands: ['repository', 'none'] } as const satisfies SpecDraft;

/** Options between `git` and its command. */
const GIT_VALUES = {
  '-C --git-dir --work-tree --exec-path': 'path',
  '-c --config-env': 'setting',
  '--namespace --super-prefix': 'none',
} as const;

const GIT_COMMANDS: Readonly<Record<string, SpecDraft>> = {
  'status log branch tag remote-show describe reflog shortlog rev-parse rev-list name-rev merge-base bisect cherry-pick revert rebase merge commit-tree switch notes gc fsck prune count-objects whatchanged range-diff cherry show-ref for-each-ref symbolic-ref var help version config maintenance stash replace':
    {
      operands: ['none'],
      values: {
        ...MESSAGE,
        '-b -B -c -C -n --max-count --author --grep --since --until --after --before --format --pretty -S -G -s --strategy -X --onto --exec -x --sort --contains --points-at --date -u --set-upstream-to -f':
          'none',
      },
    },
  grep: {
    operands: ['none', 'revision_read'],
    values: {
      '-e -C -A -B -m --max-depth': 'none',
      '-f': 'read',
      '-O --open-files-in-pager': 'command',
    },
    replacesFirst: '-e -f',
  },
  commit: {
    operands: ['read'],
    values: {
      '-m --message --author --date -C -c --reuse-message --reedit-message --fixup --squash --cleanup --trailer':
        'none',
      '-F --file -t --template': 'read',
      '--pathspec-from-file': 'read',
    },
  },
  'log shortlog whatchanged': {
    operands: ['revision_read'],
    values: {
      '-n --max-count --author --grep --since --until --after --before --format --pretty -S -G -L --date --skip --diff-filter':
        'none',
      '--output': 'write',
    },
  },
  'cat-file': { operands: ['revision_read'], verbs: 'blob tree commit tag' },
  archive: {
    operands: ['none', 'read'],
    values: {
      '--format --prefix --mtime': 'none',
      '-o --output': 'write',
      '--add-file': 'read',
      '--remote': 'repository',
      '--exec': 'command',
    },
  },
  'show diff blame annotate ls-tree ls-files diff-tree diff-index diff-files check-ignore difftool':
    {
      operands: ['revision_read'],
      values: {
        '-U -S -G --format --pretty --diff-filter -L --prefix --max-count --date -O --exclude':
          'none',
        '-o --output': 'write',
        '-X --exclude-from --contents --ignore-revs-file': 'read',
      },
    },
  difftool: {
    operands: ['revision_read'],
    values: { '-x --extcmd': 'command', '-t --tool': 'none' },
  },
  rebase: {
    operands: ['none'],
    values: { '-x --exec': 'command', '-s --strategy -X --onto -C': 'none' },
  },
  'add stage': READS,
  'rm restore clean checkout reset mv checkout-index update-index': {
    operands: ['revision_write'],
    values: {
      '-s --source -b -B --conflict --orphan -e --exclude': 'none',
      '--prefix': 'write',
      '--pathspec-from-file': 'read',
    },
  },
  mailinfo: { operands: ['write'] },
  mailsplit: { operands: ['read'], values: { '-o': 'write' } },
  'apply am': {
    operands: ['read'],
    values: {
      '-p --exclude --include -C --whitespace': 'none',
      '--directory': 'write',
      '--build-fake-ancestor': 'write',
    },
  },
  switch: NOTHING,
  clone: {
    operands: ['repository', 'write'],
    values: {
      '-b --branch --depth -o --origin -j --jobs --filter --shallow-since': 'none',
      '-c --config': 'setting',
      '-u --upload-pack': 'command',
      '--reference --template': 'read',
      '--separate-git-dir': 'write',
    },
  },
  'push fetch pull ls-remote': {
    ...REMOTE,
    values: {
      '-o --push-option --depth -j --jobs --deepen --shallow-since --refmap --negotiation-tip -s --strategy -X':
        'none',
      '--receive-pack --upload-pack --exec': 'command',
      '--repo': 'repository',
    },
  },
  remote: { operands: ['none', 'none', 'repository'], values: { '-t -m': 'none' } },
  submodule: {
    operands: ['none', 'repository', 'write'],
    values: { '-b --branch --name --depth --reference': 'none' },
  },
  worktree: {
    operands: ['none', 'write', 'none'],
    values: {
      '-b -B --initial-branch --object-format --reason': 'none',
      '--template': 'read',
      '--separate-git-dir': 'write',
    },
  },
  init: {
    operands: ['write'],
    values: {
      '-b --initial-branch --object-format': 'none',
      '--template': 'read',
      '--separate-git-dir': 'write',
    },
  },
  config: {
    operands: ['none'],
    values: { '-f --file --blob': 'change', '--type --default': 'none' },
  },
  bundle: { operands: ['none', 'write', 'none'] },
  'format-patch': {
    operands: ['none'],
    values: { '-o --output-directory': 'write', '-n -v': 'none' },
  },
  'hash-object': { operands: ['read'], values: { '-t': 'none' } },
  'filter-branch': {
    operands: ['none'],
    values: {
      '--tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter --setup':
        'command',
    },
  },
};

/** Names of scripts, packages and tests are no files. */
const PACKAGES = {
  operands: ['package'],
  values: {
    '--prefix -C --cwd --dir': 'path',
    '--registry': 'url',
    '-w --workspace --tag --filter -F --userconfig --cache --globalconfig --loglevel --otp --access --omit --include':
      'none',
  },
} as const satisfies SpecDraft;

const COMPOSE: SpecDraft = {
  operands: ['none'],
  values: {
    '-f --file --env-file': 'read',
    '-p --project-name --profile --tail --since --scale': 'none',
    '--project-directory': 'path',
  },
};
/** Folders that a container gets are in `-v`. */
const RUN_VALUES = {
  '-v --volume': 'change',
  '--mount': 'setting',
  '--env-file': 'read',
  '--cidfile': 'write',
  '-e --env -p --publish --name -w --workdir -u --user --network --net -l --label --entrypoint --platform --restart --cpus -m --memory --hostname -h --add-host --ulimit --cap-add --cap-drop --security-opt --gpus --log-driver --pull --tmpfs --shm-size -a --attach --device --dns --expose --init-path --ip --link --pid --ipc --userns --uts --volumes-from':
    'none',
} as const;
const DOCKER_COMMANDS: Readonly<Record<string, SpecDraft>> = {
  'run create exec': { operands: ['none'], values: RUN_VALUES },
  'build buildx': {
    operands: ['read'],
    verbs: 'build bake',
    values: {
      '-f --file': 'read',
      '-o --output --iidfile --metadata-file': 'write',
      '--secret --ssh --build-context --cache-from --cache-to': 'setting',
      '-t --tag --build-arg --target --platform --label --network --progress --builder --add-host':
        'none',
    },
  },
  compose: COMPOSE,
  cp: { operands: ['remote_read'], last: 'remote_write' },
  'save export': { operands: ['none'], values: { '-o --output': 'write' } },
  'load import': { operands: ['read'], values: { '-i --input': 'read' } },
};

export const DEVELOPMENT_SPECS = specsOf({
  git: { kind: 'special', operands: ['none'], values: GIT_VALUES, commands: GIT_COMMANDS },
  'npm pnpm yarn bun': { kind: 'special', ...PACKAGES },
  'pip pip3 pipx': {
    operands: ['package'],
    values: {
      '-r --requirement -c --constraint': 'read',
      '-t --target --prefix --root --log --src -d --dest': 'write',
      '-e --editable': 'read',
      '-i --index-url --extra-index-url --proxy': 'url',
      '-f --find-links': 'url',
      '--trusted-host': 'host',
      '--python --platform --abi --upgrade-strategy --no-binary --only-binary --timeout --retries':
        'none',
    },
  },
  'cargo rustup': {
    operands: ['none'],
    values: {
      '--manifest-path --config': 'read',
      '--target-dir --root --out-dir': 'write',
      '--git --index': 'url',
      '--path': 'read',
      '-p --package --bin --example --test --bench --features -F --target --profile -j --jobs --branch --tag --rev --version --registry -Z --color --message-format --exclude':
        'none',
    },
  },
  go: {
    operands: ['none'],
    hasLongDashes: true,
    values: {
      '-o -coverprofile -cpuprofile -memprofile': 'write',
      '-C': 'path',
      '-modfile': 'read',
      '-run -bench -tags -ldflags -gcflags -count -timeout -p -mod -parallel -benchtime -coverpkg -covermode -json-file':
        'none',
    },
  },
  'make gmake ninja just task rake': {
    operands: ['none'],
    values: {
      '-f --file --makefile -I --include-dir --justfile': 'read',
      '-C --directory --working-directory': 'path',
      '-j --jobs -l --load-average -k -W -o --output-sync': 'glued',
    },
  },
  'tsc tsx esbuild swc vite webpack rollup vitest jest mocha eslint prettier biome oxlint ruff black mypy flake8 isort pytest tox nox pylint shellcheck shfmt gofmt goimports rustfmt clang-format':
    {
      values: {
        '-t --testNamePattern -k -m --reporter --format --target --module --loader --parser --maxWorkers --jobs --timeout --grep --max-warnings --rule --env --mode --line-length --select --ignore --tb --maxfail --durations --project --environment --pool --shard --retry --platform --jsx --lib --log-level --severity --shell':
          'none',
        '-c --config -p --ignore-path --ignore-pattern --resolve-plugins-relative-to --tsconfig --rcfile -r --require':
          'read',
        '--outfile --outdir -o --out-file --out-dir --outDir --outFile --output-file --junitxml --junit-xml --html-report --coverage-directory --coverageDirectory':
          'write',
      },
      changesWith: '--fix --write -w -i --in-place --apply --unsafe',
      verbs: 'run watch check format lint dev build serve preview',
    },
  'gcc g++ cc c++ clang clang++ ld as rustc javac': {
    hasLongDashes: true,
    values: {
      '-o -MF -d': 'write',
      '-wrapper -fplugin -specs': 'code',
      '-I -L -isystem -include -T -cp -classpath -L --out-dir': 'read',
      '-D -U -x -l -MT -MQ -target -arch --edition --crate-type --crate-name -C --cfg --emit --extern --release -source':
        'none',
    },
  },
  java: {
    hasLongDashes: true,
    operands: ['none', 'read'],
    values: { '-jar -cp -classpath --class-path -p --module-path': 'read', '-m --module': 'none' },
  },
  'docker podman nerdctl': {
    kind: 'special',
    operands: ['none'],
    values: { '-H --host': 'url', '-c --context --config -l --log-level': 'none' },
    commands: DOCKER_COMMANDS,
  },
  'docker-compose podman-compose': COMPOSE,
  'kubectl oc helm': {
    operands: ['none'],
    values: {
      '-f --filename --values -k --kustomize --kubeconfig --from-file --set-file': 'read',
      '-s --server --repo': 'url',
      '-n --namespace -o --output -l --selector -c --container --context --set --version --tail --since --type --patch -p --image --replicas --timeout --cluster --user':
        'none',
    },
  },
  'terraform tofu': {
    operands: ['none'],
    hasLongDashes: true,
    values: {
      '-var-file -state -chdir': 'read',
      '-out': 'write',
      '-var -target -backend-config': 'none',
    },
  },
  'aws gcloud az': {
    operands: ['setting'],
    values: {
      '--endpoint-url': 'url',
      '--region --profile --output --query --filters --project': 'none',
    },
  },
  'gh glab': {
    operands: ['none'],
    values: {
      '-F --body-file --notes-file --input': 'read',
      '-R --repo -t --title -b --body -n --notes -l --label -a --assignee -r --reviewer -B --base -H --head -q --jq --json -L --limit -s --state -m --milestone --template -X --method -f --raw-field --field --description --author --search --branch --workflow --hostname':
        'none',
      '-D --dir -O --output': 'write',
    },
  },
  'hg svn jj': {
    operands: ['read'],
    values: { '-m --message -r --revision -u --user -d --date -b': 'none' },
  },
  'apt apt-get aptitude yum dnf apk brew pacman zypper port snap gem systemctl service journalctl launchctl apt-cache dpkg rpm corepack nvm pyenv rbenv asdf volta fnm conda mamba':
    {
      operands: ['package'],
      values: { '-c -o -t -n -p -u --since --until --unit --lines': 'none' },
    },
  'uv poetry pipenv hatch pdm bundle rye': {
    kind: 'special',
    operands: ['package'],
    values: {
      '-r --requirement -c': 'read',
      '--directory --project -C': 'path',
      '-p --python --with --group --extra -G -E --index-strategy': 'none',
      '--index-url --default-index --extra-index-url': 'url',
      '--with-requirements --env-file': 'read',
    },
  },
  'mvn gradle gradlew ant sbt bazel pre-commit dotnet swift flutter xcodebuild': {
    operands: ['none'],
    values: { '-f --file -b --build-file -p --project-dir': 'read', '-o --output': 'write' },
  },
  'ssh-keygen': {
    operands: ['none'],
    values: { '-f': 'write', '-D -w': 'code', '-t -b -C -N -P -O -n -I -s -V -z -m': 'none' },
  },
  'npm-run-all run-s run-p concurrently wait-on': {
    operands: ['none'],
    values: { '-n --names -c --prefix-colors -p --prefix --timeout': 'none' },
  },
});
