// Command lines in a text, cut where a shell would cut them.

/** Words that start a command line wherever they stand; ordinary English words are left out. */
const STARTERS: ReadonlySet<string> = new Set(
  `sudo su doas env bash sh zsh fish dash ksh pwsh powershell cmd cmd.exe eval exec source
   curl wget nc ncat netcat socat telnet ssh scp sftp rsync ftp tftp
   rm mv cp dd ln chmod chown chattr mkfs mount umount shred unlink tee xargs awk sed
   python python3 node deno bun perl ruby php lua java osascript
   npm npx pnpm yarn pip pip3 pipx uv uvx gem cargo go brew apt apt-get yum dnf apk pacman
   git gh docker podman kubectl helm terraform aws gcloud az
   base64 openssl gpg tar unzip gunzip crontab systemctl launchctl kill pkill iptables
   certutil bitsadmin mshta rundll32 regsvr32 reg wmic schtasks
   invoke-webrequest invoke-expression invoke-restmethod iwr iex irm start-process`.split(/\s+/),
);

const WORDS_MAX = 12;
const LINE_LENGTH_MAX = 1_024;

export interface CommandLine {
  readonly words: readonly string[];
}

/** The commands of a line as a shell would run them one by one. */
function piecesOf(line: string): readonly string[] {
  return line.split(/&&|\|\||[;|&\n\r`]|\$\(|[<>]\(/);
}

function wordsOf(piece: string): readonly string[] {
  return piece
    .slice(0, LINE_LENGTH_MAX)
    .toLowerCase()
    .replace(/["'()]|\\(?=[\w-])/g, '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX);
}

/** The command lines of ordinary text: from each word that starts one to the end of its piece. */
export function commandsIn(text: string): readonly CommandLine[] {
  const found: CommandLine[] = [];
  for (const piece of new Set(piecesOf(text))) {
    const command = startedIn(wordsAll(piece));
    if (command !== undefined) found.push(command);
  }
  return found;
}

/** All words of a piece: the starter may stand far behind, in a long sentence. */
function wordsAll(piece: string): readonly string[] {
  return piece
    .toLowerCase()
    .replace(/["'()]|\\(?=[\w-])/g, '')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function startedIn(words: readonly string[]): CommandLine | undefined {
  const start = words.findIndex((word) => STARTERS.has(nameOf(word)));
  // One word alone is a mention, not a command.
  if (start === -1 || words.length - start < 2) return undefined;
  return { words: words.slice(start, start + WORDS_MAX).map((word) => word.slice(0, 256)) };
}

/** `/usr/bin/curl` and `./curl` are `curl`; `$` and `>` are prompts. */
function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/** Every command that a value given as a command would run. */
export function commandsOf(value: string): readonly CommandLine[] {
  return piecesOf(value)
    .map((piece) => ({ words: wordsOf(piece) }))
    .filter(({ words }) => words.length > 0);
}

/** As a key; the program is called by its name, wherever it lies. */
export function commandKey(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  return [nameOf(first), ...rest].join(' ').replace(/[.,:!?]+$/, '');
}
