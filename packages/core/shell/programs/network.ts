// Programs that talk to other machines.
import { specsOf } from './spec.ts';

export const NETWORK_SPECS = specsOf({
  curl: {
    operands: ['url'],
    values: {
      '-o --output --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc --libcurl':
        'write',
      '-T --upload-file --cacert --capath -E --cert --key --netrc-file --etag-compare --crlfile --pinnedpubkey':
        'read',
      '-K --config': 'instructions',
      '--engine': 'code',
      '--unix-socket --abstract-unix-socket': 'change',
      '-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form -b --cookie -H --header --proxy-header --url-query --variable':
        'setting',
      '--url -x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --doh-url -e --referer':
        'url',
      '--connect-to --resolve --interface --dns-servers': 'host',
      '-X --request -A --user-agent -u --user -U --proxy-user -m --max-time --connect-timeout --retry --retry-delay --retry-max-time -w --write-out -r --range -C --continue-at -y -Y -z --time-cond --limit-rate --max-filesize --max-redirs --cert-type --key-type --pass --ciphers --tls-max --proto --proto-default --proto-redir --rate --form-string --oauth2-bearer --keepalive-time --local-port --create-file-mode --aws-sigv4 --parallel-max -P -Q -t':
        'none',
    },
  },
  wget: {
    operands: ['url'],
    values: {
      '-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file':
        'write',
      '--post-file --body-file --load-cookies --ca-certificate --certificate --private-key': 'read',
      '-i --input-file --config': 'instructions',
      '--use-askpass': 'command',
      '--referer': 'url',
      '-t --tries -T --timeout -w --wait -Q --quota -U --user-agent --header --user --password --http-user --http-password --post-data --body-data --method -l --level -A --accept -R --reject -D --domains --exclude-domains -I -X --limit-rate -e --execute --max-redirect --progress --waitretry --dns-timeout --connect-timeout --read-timeout --restrict-file-names --cut-dirs --default-page --secure-protocol':
        'none',
    },
  },
  'http https xh xhs': {
    operands: ['url', 'setting'],
    values: {
      '-o --output': 'write',
      '-a --auth -A --auth-type --session --timeout -p --print': 'none',
    },
  },
  aria2c: {
    operands: ['url'],
    values: {
      '-d --dir -o --out': 'write',
      '-i --input-file --conf-path': 'instructions',
      '--on-download-start --on-download-complete --on-download-error --on-download-stop --on-download-pause --on-bt-download-complete':
        'command',
      '-x -s -j -k': 'none',
    },
  },
  'lynx w3m links links2 elinks': {
    operands: ['page'],
    values: { '-o -I -T -cols': 'none', '-cfg -cmd_script': 'instructions' },
  },
  ssh: {
    kind: 'special',
    operands: ['host'],
    values: {
      '-i': 'read',
      '-F': 'instructions',
      '-E': 'write',
      '-S': 'path',
      '-I': 'code',
      '-J -W -o': 'host',
      '-b -B -c -D -e -L -l -m -O -p -Q -R -w': 'none',
    },
  },
  'sftp ftp telnet tftp': {
    operands: ['host', 'none'],
    values: {
      '-i': 'read',
      '-F -b': 'instructions',
      '-S -D': 'command',
      '-o -J': 'host',
      '-P -B -c -l -R -s': 'none',
    },
  },
  scp: {
    readsTrees: '-r',
    operands: ['remote_read'],
    last: 'remote_write',
    values: {
      '-i': 'read',
      '-F': 'instructions',
      '-S -D': 'command',
      '-o -J': 'host',
      '-P -c -l -X': 'none',
    },
  },
  rsync: {
    puts: true,
    readsTrees: '-r -a --recursive --archive',
    operands: ['remote_read'],
    last: 'remote_write',
    values: {
      '-e --rsh --rsync-path': 'command',
      '--exclude-from --include-from --password-file': 'read',
      '--files-from': 'instructions',
      '--log-file --backup-dir --partial-dir --temp-dir -T --write-batch': 'write',
      '--exclude --include -f --filter --bwlimit --port --timeout --chmod --chown --max-size --min-size --suffix --info --out-format -M -B --block-size --compress-level --contimeout':
        'none',
    },
  },
  'nc ncat netcat': {
    operands: ['host', 'none'],
    values: {
      '-p -w -i -q -X -O -P -s -T -I -V -m': 'none',
      '-x': 'host',
      '-e -c --exec --sh-exec': 'command',
      '-o': 'write',
    },
  },
  socat: { operands: ['setting'] },
  'ping ping6 traceroute mtr host whois tracepath arping': {
    operands: ['host', 'none'],
    values: { '-c -i -w -W -s -t -I -M -Q -m': 'none' },
  },
  'dig nslookup drill': {
    operands: ['host'],
    values: { '-t -p -b -k -y': 'none', '-f': 'read' },
  },
  openssl: {
    kind: 'special',
    operands: ['none'],
    hasLongDashes: true,
    values: {
      '-engine -provider -provider-path': 'code',
      '-in -inkey -key -cert -CAfile -config -CApath -certfile -signkey -CA -CAkey -kfile -passin':
        'read',
      '-out -keyout -writerand': 'write',
      '-connect -proxy': 'host',
      '-subj -days -newkey -pass -passout -name -servername -addext -sigalg -digest -cipher -curves':
        'none',
    },
  },
  'psql pg_dump pg_restore createdb dropdb pg_isready': {
    operands: ['none'],
    values: {
      '-h --host': 'host',
      '-f --file': 'read',
      '-o --output -L': 'write',
      '-p -U -d -c -F -v -P -T': 'none',
    },
  },
  'mysql mysqldump mysqladmin mariadb': {
    operands: ['none'],
    values: {
      '-h --host': 'host',
      '-P --port -u --user -e --execute -D --database': 'none',
      '--default-auth --plugin-dir': 'code',
      '--defaults-file --defaults-extra-file': 'read',
    },
  },
  'redis-cli mongo mongosh': {
    operands: ['none'],
    values: { '-h --host': 'host', '-p --port -a -n -u --eval': 'none' },
  },
  tcpdump: {
    operands: ['none'],
    values: {
      '-w': 'write',
      '-r -F -V': 'read',
      '-z': 'command',
      '-i -c -C -G -W -s -Z -B': 'none',
    },
  },
  // They carry or serve all of a folder.
  'rclone gsutil s3cmd s5cmd lftp croc serve http-server live-server miniserve': {
    readsTrees: 'always',
    operands: ['remote_read'],
    verbs: 'copy sync move cp rsync put send mirror',
    values: { '-e -c': 'code', '-l --listen -p --port': 'none' },
  },
  smtp: { operands: ['host'] },
});
