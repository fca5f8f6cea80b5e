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
const WORD_LENGTH_MAX = 256;
const LINE_LENGTH_MAX = 1_024;

/** The commands of a line as a shell would run them one by one. */
function piecesIn(line: string): readonly string[] {
  return line.split(/&&|\|\||[;|&\n\r`]|\$\(|[<>]\(/);
}

function wordsOf(piece: string): readonly string[] {
  const plain = piece.toLowerCase().replace(/["'()]|\\(?=[\w-])/g, '');
  return plain.split(/\s+/).filter((word) => word !== '');
}

/** The command lines of ordinary text: from each word that starts one to the end of its piece. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  return [...new Set(piecesIn(text))].flatMap((piece) => {
    const words = wordsOf(piece);
    const start = words.findIndex((word) => STARTERS.has(programOf(word)));
    // One word alone is a mention, not a command.
    if (start === -1 || words.length - start < 2) return [];
    return [words.slice(start, start + WORDS_MAX).map((word) => word.slice(0, WORD_LENGTH_MAX))];
  });
}

/** `/usr/bin/curl` and `./curl` are `curl`. */
export function programOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/** Every command that a value given as a command would run. */
export function commandsOf(value: string): readonly (readonly string[])[] {
  return piecesIn(value)
    .map((piece) => wordsOf(piece.slice(0, LINE_LENGTH_MAX)).slice(0, WORDS_MAX))
    .filter((words) => words.length > 0);
}

/** As a key; the program is called by its name, wherever it lies. */
export function commandKey(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  return [programOf(first), ...rest].join(' ').replace(/[.,:!?]+$/, '');
}
