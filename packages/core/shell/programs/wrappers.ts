// Programs that run another one: the command stands behind their options.
import { type SpecDraft, specsOf } from './spec.ts';

const WRAPPER = { kind: 'wrapper', operands: ['none'] } as const satisfies SpecDraft;

export const WRAPPER_SPECS = specsOf({
  sudo: {
    ...WRAPPER,
    values: {
      '-u --user -g --group -h --host -p --prompt -C --close-from -T --command-timeout -r --role -t --type -U --other-user':
        'none',
      '-D --chdir -R --chroot': 'path',
    },
    flags: `-A -b -E -e -H -i -K -k -l -n -P -S -s -V -v -B -N --askpass --background
      --preserve-env --edit --set-home --login --remove-timestamp --reset-timestamp --list
      --non-interactive --preserve-groups --stdin --shell --version --validate --bell`,
  },
  doas: { ...WRAPPER, values: { '-u -C -a': 'none' }, flags: '-L -n -s' },
  env: {
    ...WRAPPER,
    values: {
      '-u --unset -a --argv0': 'none',
      '-C --chdir': 'path',
      '-S --split-string': 'command',
    },
    flags: '-i --ignore-environment -0 --null -v --debug -',
  },
  nohup: WRAPPER,
  time: {
    ...WRAPPER,
    values: { '-f --format': 'none', '-o --output': 'write' },
    flags: '-p -a -v -q -l -h --portability --append --verbose --quiet',
  },
  exec: { ...WRAPPER, values: { '-a': 'none' }, flags: '-c -l' },
  command: { ...WRAPPER, flags: '-p -v -V' },
  builtin: WRAPPER,
  nice: { ...WRAPPER, values: { '-n --adjustment': 'none' }, flags: '' },
  ionice: {
    ...WRAPPER,
    values: { '-c --class -n --classdata -p --pid -P --pgid -u --uid': 'none' },
    flags: '-t --ignore',
  },
  timeout: {
    ...WRAPPER,
    skips: 1,
    values: { '-s --signal -k --kill-after': 'none' },
    flags: '--preserve-status --foreground -v --verbose -p -f',
  },
  stdbuf: { ...WRAPPER, values: { '-i --input -o --output -e --error': 'none' } },
  setsid: { ...WRAPPER, flags: '-c -f -w --ctty --fork --wait' },
  busybox: WRAPPER,
  toybox: WRAPPER,
  unbuffer: { ...WRAPPER, flags: '-p' },
  watch: {
    ...WRAPPER,
    values: { '-n --interval -q --equexit': 'none' },
    flags:
      '-b -c -C -d -e -g -p -r -t -w -x --beep --color --differences --errexit --chgexit --precise --no-title --no-wrap --exec',
  },
  'strace ltrace': {
    ...WRAPPER,
    values: {
      '-e -s -p -P -u -a -I -O -S -E -X --trace': 'none',
      '-o --output': 'write_or_command',
    },
    flags:
      '-f -ff -c -C -d -h -i -k -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -D --follow-forks',
  },
  flock: {
    ...WRAPPER,
    skips: 1,
    operands: ['write'],
    values: { '-w --wait --timeout -E --conflict-exit-code': 'none', '-c --command': 'command' },
    flags:
      '-s -x -e -u -n -o -F -v --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose',
  },
  chroot: {
    ...WRAPPER,
    skips: 1,
    values: { '--userspec --groups': 'none' },
    flags: '--skip-chdir',
  },
  xargs: {
    ...WRAPPER,
    values: {
      '-I -n --max-args -P --max-procs -L --max-lines -d --delimiter -s --max-chars -E --process-slot-var':
        'none',
      '-a --arg-file': 'read',
      '-i -l -e --replace --eof': 'glued',
    },
    flags: '-0 --null -r --no-run-if-empty -t --verbose -p --interactive -x --exit -o --open-tty',
  },
  parallel: {
    ...WRAPPER,
    values: {
      '-j --jobs -P --max-procs -I -n --max-args -N -L -d --delimiter -C --colsep --timeout --retries --delay --halt --tagstring --memfree --load --nice':
        'none',
      '-a --arg-file': 'read',
      '--joblog --results': 'write',
    },
    flags: `-0 --null -k --keep-order -u --ungroup -v --verbose -t -X -m -q --quote --bar --eta --dry-run
      --progress --will-cite --citation --no-notice --tag --line-buffer --lb --pipe -r
      --no-run-if-empty --shuf --plus --group`,
  },
  'npx bunx pnpx': {
    ...WRAPPER,
    values: { '-p --package --prefix -w --workspace --cache': 'none', '-c --call': 'command' },
    flags: `-y --yes -n --no -q --quiet --no-install --ignore-existing --prefer-offline --offline
      --silent -s --bun --ws --workspaces`,
  },
  'su runuser': {
    operands: ['none'],
    values: {
      '-c --command --session-command': 'command',
      '-s --shell -g --group -G -w -u': 'none',
    },
  },
  script: {
    operands: ['write'],
    values: { '-c --command': 'command', '-T --log-timing -I -O -B': 'write', '-E -m -o': 'none' },
  },
  'systemd-run systemd-inhibit': {
    ...WRAPPER,
    values: {
      '-u --unit -p --property -E --setenv --set-env -H --host -M --machine --slice --uid --gid --what --who --why --mode --description --on-calendar --on-active --on-boot --on-startup --on-unit-active --timer-property --nice':
        'none',
      '--working-directory': 'path',
    },
    flags: `--user --system --scope -t --pty -P --pipe -q --quiet -d --same-dir --wait -G --collect -S
      --shell -r --remain-after-exit --no-block --list`,
  },
  taskset: { ...WRAPPER, skips: 1, flags: '-c -p -a --cpu-list --pid --all-tasks' },
  unshare: {
    ...WRAPPER,
    flags:
      '-m -u -i -n -p -U -C -T -f -r --mount --uts --ipc --net --pid --user --fork --map-root-user',
  },
  rlwrap: {
    ...WRAPPER,
    values: { '-l --logfile -H --history-filename -f --file': 'write', '-P -p -S -t -b': 'none' },
    flags:
      '-a -A -c -i -r -n -m --ansi-colour-aware --case-insensitive --remember --complete-filenames',
  },
  'dumb-init tini': { ...WRAPPER, flags: '-s -v -g -c --single-child --verbose' },
  'gosu su-exec': { ...WRAPPER, skips: 1 },
  'pkexec fakeroot catchsegv eatmydata': WRAPPER,
  'caffeinate dbus-run-session': { ...WRAPPER, flags: '-d -i -m -s -u --' },
  'xvfb-run': {
    ...WRAPPER,
    values: { '-n --server-num -s --server-args -w --wait': 'none', '-e --error-file': 'write' },
    flags: '-a --auto-servernum -l --listen-tcp',
  },
  'dotenv dotenvx': {
    ...WRAPPER,
    values: { '-e -f': 'read', '-v -p': 'none' },
    flags: '-o -- --',
  },
  'cross-env cross-env-shell': WRAPPER,
  proxychains4: { ...WRAPPER, values: { '-f': 'read' }, flags: '-q' },
});

/** Every program that runs another one. */
export const WRAPPER_NAMES: readonly string[] = [...WRAPPER_SPECS.keys()];
