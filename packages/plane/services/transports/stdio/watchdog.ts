// The watchdog ends the server when the shim was killed and cannot do it. It is a shell that reads from a pipe
// whose other end only the shim holds: if the pipe ends without a word, the shim is dead.
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { type Family, SHIM_MARK } from './processes.ts';

export interface GuardTimes {
  readonly graceMs: number;
  readonly termMs: number;
}

export interface ServerWatchdog {
  /** Undefined when it could not be started: then a server that ignores EOF outlives a killed shim. */
  pid(): number | undefined;
  /** The server was already asked to end by SIGTERM: an alarm need not wait for that again. */
  termSent(): void;
  /** Ends the guard; resolves when it is gone. */
  dismiss(): Promise<void>;
}

// A round of the script sleeps 100 ms and looks around for about 20.
const ROUND_MS = 120;
const RESTARTS_MAX = 3;
export const SHELL = '/bin/sh';

// $1 group, $2 start ticks of its leader, $3 mark, $4 and $5 rounds to wait, $6 `ps` to do without /proc.
// The group is ours until a look finds it empty or led by a process of another start time.
export const SCRIPT = `
trap '' HUP INT TERM
group=$1 born=$2 mark=$3 grace=$4 term=$5 how=$6 ours=1
[ -r /proc/self/stat ] || how=ps
birth() {
  if [ "$how" = ps ]; then started=$(ps -o lstart= -p "$1"); [ -n "$started" ]; return; fi
  line=
  while IFS= read -r part || [ -n "$part" ]; do line="$line$part "; done < "/proc/$1/stat" || return 1
  set -f; set -- \${line##*) }; set +f
  started=\${20}
}
[ "$how" = ps ] && { birth "$group"; born=$started; }
while read -r word; do
  case $word in done) exit 0 ;; term) grace=0 ;; esac
done
members() {
  if [ "$how" = ps ]; then
    ps -A -o pid= -o pgid= -o stat= | while read -r pid pgid state; do
      case $pgid/$state in "$group"/Z*) ;; "$group"/*) echo "$pid" ;; esac
    done
  else
    printf '%s\\n' /proc/[0-9]*/stat | xargs grep -lE "\\) [^ZXx] [0-9]+ $group " | tr -cd '0-9\\n'
  fi
}
marked() {
  [ "$how" = ps ] || printf '%s\\n' /proc/[0-9]*/environ | xargs grep -lF "$mark" | tr -cd '0-9\\n'
}
look() {
  if [ -n "$ours" ]; then
    if birth "$group" && [ "$started" != "$born" ]; then ours=; fi
  fi
  [ -z "$ours" ] || found=$(members)
  [ -n "$found" ] || ours=
  [ -n "$ours" ] || found=
  strays=$(marked)
  [ -n "$found$strays" ]
}
strike() {
  [ -z "$ours" ] || kill -s "$1" -- "-$group"
  for pid in $strays; do kill -s "$1" "$pid"; done
}
wait_for_end() {
  rounds=$1
  while look; do
    [ "$rounds" -gt 0 ] || return 0
    rounds=$((rounds - 1))
    sleep 0.1 || sleep 1
  done
  exit 0
}
wait_for_end "$grace"
strike TERM
wait_for_end "$term"
tries=50
while [ "$tries" -gt 0 ]; do
  strike KILL
  wait_for_end 1
  tries=$((tries - 1))
done
exit 1
`;

/** Starts a guard beside the server; it costs a small shell that sleeps. */
export function startGuard(family: Family, times: GuardTimes): ServerWatchdog {
  let shell = startShell(family, times);
  let isTermSent = false;
  let isDismissed = false;
  let restarts = 0;
  // A guard that was ended by hand is replaced while the server runs.
  const replace = (): void => {
    if (isDismissed || restarts >= RESTARTS_MAX) return;
    restarts++;
    shell = startShell(family, times);
    shell?.once('exit', replace);
    if (isTermSent) shell?.stdin?.write('term\n');
  };
  shell?.once('exit', replace);
  return {
    pid: () => shell?.pid,
    termSent() {
      isTermSent = true;
      shell?.stdin?.write('term\n');
    },
    dismiss() {
      isDismissed = true;
      return shell === undefined ? Promise.resolve() : endShell(shell);
    },
  };
}

function startShell(family: Family, times: GuardTimes): ChildProcess | undefined {
  const args = [
    String(family.pgid),
    String(family.startTicks ?? ''),
    `${SHIM_MARK}=${family.shimId}`,
    String(Math.ceil(times.graceMs / ROUND_MS)),
    String(Math.ceil(times.termMs / ROUND_MS)),
  ];
  let shell: ChildProcess;
  try {
    shell = spawn(SHELL, ['-c', SCRIPT, 'subluminal-guard', ...args], {
      detached: true,
      // It holds none of our pipes but its own, no folder, and no mark that would make it a target.
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: `/usr/bin:/bin:${process.env['PATH'] ?? ''}`, LC_ALL: 'C' },
    });
  } catch {
    return undefined;
  }
  shell.on('error', ignore);
  shell.stdin?.on('error', ignore);
  if (shell.pid === undefined) return undefined;
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

function endShell(shell: ChildProcess): Promise<void> {
  if (shell.exitCode !== null || shell.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    shell.ref();
    shell.once('exit', () => resolve());
    // It waits for a word, so it needs no time to end in order; what it holds is only its pipe.
    shell.kill('SIGKILL');
    shell.stdin?.destroy();
  });
}

function ignore(): void {}
