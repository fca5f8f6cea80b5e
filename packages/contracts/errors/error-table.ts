// Every error code of the product, and what it means. docs/reference/errors.md has a section for each
// code, with its cause and its fix; a test holds the two together.

const ERRORS = {
  // Bundles: a bundle that has one of these does not compile.
  SUB_BUNDLE_SYNTAX: 'The file is not valid YAML or JSON.',
  SUB_BUNDLE_ENCODING: 'The file is not valid UTF-8.',
  SUB_BUNDLE_TOO_LARGE: 'The bundle is too large.',
  SUB_BUNDLE_TOO_DEEP: 'The bundle nests too deeply.',
  SUB_BUNDLE_DUPLICATE_KEY: 'A key stands twice in one object.',
  SUB_BUNDLE_MISSING_FIELD: 'A required field is missing.',
  SUB_BUNDLE_UNKNOWN_FIELD: 'A field is not known.',
  SUB_BUNDLE_UNKNOWN_KIND: 'A rule has an unknown kind.',
  SUB_BUNDLE_TYPE: 'A value has the wrong type.',
  SUB_BUNDLE_VALUE: 'A value is outside what the field takes.',
  SUB_BUNDLE_DUPLICATE_RULE: 'Two rules have the same id.',
  SUB_BUNDLE_REGEX: 'A regular expression does not compile.',
  SUB_BUNDLE_GLOB: 'A glob does not compile.',
  SUB_BUNDLE_WHEN: 'A `when` condition does not compile.',
  SUB_BUNDLE_CONFLICT: 'Two fields contradict each other.',
  // Lint: a bundle that has one of these compiles, but may not do what its author means.
  SUB_LINT_UNREACHABLE: 'A rule can never decide.',
  SUB_LINT_EXEMPTED: 'An allow exempts every call of a later rule.',
  SUB_LINT_UNTAGGED: 'A rule matches a risk class that nothing adds.',
  SUB_LINT_TAG_ORDER: 'A risk class is added after it is needed.',
  SUB_LINT_UNANCHORED: 'An allow has a regular expression that is not anchored.',
  SUB_LINT_NO_HINT: 'A hint has no text.',
  SUB_LINT_DISABLED: 'A rule is disabled.',
  SUB_LINT_FAIL_OPEN: 'Errors let calls pass.',
  SUB_LINT_SELF_PROTECTION: 'Self-protection is off.',
  SUB_LINT_APPROVAL_MODE: 'A person is to be asked in a mode that asks nobody.',
  SUB_LINT_OBSERVE: 'The policy only observes.',
  SUB_LINT_NEVER_PASSES: 'A limit lets no call pass.',
  SUB_LINT_BROAD_DEDUPE: 'A dedupe rule covers reads.',
  SUB_LINT_READ_UNTAGGED: 'Nothing is tagged as a read.',
  SUB_LINT_SELECTOR_PATTERN: 'A selector looks like a pattern.',
  SUB_LINT_HIDDEN_TEXT: 'A name or a pattern is not what it looks like.',
  SUB_LINT_EMPTY: 'The policy has no rules.',
  SUB_LINT_SUPPRESSION: 'A suppression does nothing, or lasts too long.',
  SUB_LINT_RULE_OF_TWO: 'The rule of two can never hold anything back.',
  SUB_LINT_HINT_DROPPED: 'A hint never reaches the agent.',
  SUB_LINT_HINT_DELIVERY: 'Refusals are errors, which clients show raw.',
  SUB_LINT_DURATION: 'A duration is very short.',
  SUB_LINT_UNGUARDED: 'A condition fails where an argument is missing.',
  SUB_LINT_RAW_PATH: 'A path is compared as text.',
  SUB_LINT_COMMAND: 'A rule about commands does more or less than it seems to.',
  SUB_LINT_UNKNOWN_TOOL: 'No pinned tool has the name that a rule matches.',
  // Canonical JSON and hashes.
  SUB_CANON_SYNTAX: 'The arguments are not valid JSON.',
  SUB_CANON_DUPLICATE_KEY: 'The arguments have a key twice.',
  SUB_CANON_DEPTH: 'The arguments nest too deeply.',
  SUB_CANON_NUMBER: 'A number has no canonical form.',
  SUB_CANON_NOT_OBJECT: 'The arguments are not an object.',
  // Snapshots.
  SUB_SNAPSHOT_FORMAT: 'The snapshot is not readable.',
  SUB_SNAPSHOT_HASH: 'The hash of the snapshot does not match.',
  SUB_SNAPSHOT_SIGNATURE: 'The signature of the snapshot does not hold.',
  SUB_SNAPSHOT_KEY: 'A key cannot be used.',
  // Events.
  SUB_EVENT_MALFORMED: 'An event breaks contract A.',
  SUB_EVENT_TOO_LONG: 'An event is too long.',
  SUB_EVENT_CONFLICT: 'Two lines have the same number.',
  // The shim and its configuration.
  SUB_CONFIG_SYNTAX: 'The configuration cannot be read.',
  SUB_CONFIG_KEY: 'The configuration has an unknown key.',
  SUB_CONFIG_VALUE: 'A setting has a wrong value.',
  SUB_HOME_UNSAFE: 'The folder of Subluminal is not safe.',
  SUB_SHIM_START: 'The shim did not start.',
  SUB_REMOTE_ADDRESS: 'The address of a server cannot be used.',
  SUB_REMOTE_HEADER: 'A header for a server cannot be used.',
  // Secrets and their store.
  SUB_SECRET_MISSING: 'A secret is not there.',
  SUB_SECRET_UNUSABLE: 'A secret cannot be used.',
  SUB_SECRET_UNKNOWN: 'The store has no such secret.',
  SUB_SECRET_EXISTS: 'The store has that secret already.',
  SUB_VAULT_KEY: 'The store of secrets cannot be unlocked.',
  SUB_VAULT_DAMAGED: 'The store of secrets is damaged.',
  SUB_VAULT_NEWER: 'The store of secrets is of a newer version.',
  SUB_VAULT_BUSY: 'Another process is changing the store of secrets.',
  // Authorization towards remote servers.
  SUB_AUTH_REQUIRED: 'A remote server needs a login.',
  SUB_AUTH_SCOPE: 'A remote server needs more than was granted.',
  SUB_AUTH_DISCOVERY: 'The authorization server of a remote server cannot be found or trusted.',
  SUB_AUTH_CLIENT: 'The authorization server knows no client that `sub` could be.',
  SUB_AUTH_REFUSED: 'The authorization server gives no token.',
  SUB_AUTH_RESPONSE: 'The answer to a login cannot be trusted, or has not come.',
  SUB_AUTH_UNREACHABLE: 'A remote server or its authorization server does not answer.',
  // Manifests, pins and servers.
  SUB_MANIFEST_SYNTAX: 'The manifest cannot be read.',
  SUB_MANIFEST_FIELD: 'The manifest has a wrong field, or lacks one.',
  SUB_MANIFEST_VALUE: 'A field of the manifest has a wrong value.',
  SUB_MANIFEST_CONFLICT: 'Two parts of the manifest contradict each other.',
  SUB_MANIFEST_UNSAFE: 'Others could change the manifest.',
  SUB_PINS_UNREADABLE: 'The pins cannot be read.',
  SUB_PINS_BUSY: 'Another process is changing the pins.',
  SUB_PINS_CHANGED: 'The pins have changed meanwhile.',
  SUB_SERVER_UNKNOWN: 'No client knows how to start this server.',
  SUB_SERVER_LOOK: 'The server could not be looked at.',
  // The configuration folder of a gateway.
  SUB_GATEWAY_FILE: 'A file of the gateway configuration is missing, or is not read.',
  SUB_GATEWAY_SYNTAX: 'A file of the gateway configuration cannot be read.',
  SUB_GATEWAY_FIELD: 'The gateway configuration has a wrong field, or lacks one.',
  SUB_GATEWAY_VALUE: 'A field of the gateway configuration has a wrong value.',
  SUB_GATEWAY_REFERENCE: 'The gateway configuration names something that is not there.',
  SUB_GATEWAY_DUPLICATE: 'Two entries of the gateway configuration have the same id.',
  SUB_GATEWAY_CONDITION: 'A condition of the policy of turns does not compile.',
  SUB_GATEWAY_SECRET: 'The gateway configuration holds a secret in plain text.',
  SUB_GATEWAY_UNRESOLVED: 'A secret reference of the gateway configuration leads nowhere.',
  SUB_GATEWAY_UNPRICED: 'A model of the gateway configuration has no price.',
  // `sub serve`.
  SUB_SERVE_SYNTAX: 'A serve configuration does not parse.',
  SUB_SERVE_FIELD: 'A field of a serve configuration is unknown or missing.',
  SUB_SERVE_VALUE: 'A value in a serve configuration cannot be used.',
  SUB_SERVE_LISTEN: '`sub serve` cannot listen on its address.',
  SUB_SERVE_AUTH: 'The section `auth` of a serve configuration does not hold.',
  // Cedar policies.
  SUB_CEDAR_FILES: 'The Cedar policies cannot be loaded.',
  SUB_CEDAR_SYNTAX: 'A Cedar policy does not parse.',
  SUB_CEDAR_POLICY: 'A Cedar policy does not fit the schema.',
  SUB_CEDAR_SCHEMA: 'The Cedar schema cannot be used.',
  SUB_CEDAR_ENTITIES: 'The Cedar entities cannot be used.',
  // Runs: their hub and their agent.
  SUB_HUB_LISTEN: 'The hub of a run cannot listen.',
  SUB_HOOKS_LISTEN: 'The hooks of agents cannot be listened for.',
  SUB_HUB_ENDPOINT: 'The address of the hub cannot be used.',
  SUB_HUB_DOWN: 'The hub of the run does not answer.',
  SUB_SHIM_LOOSE: 'A server does not start, because its entry loosens the run.',
  SUB_AGENT_START: 'The agent did not start.',
  SUB_MODELS_ADDRESS: 'The address of a model cannot be used.',
  SUB_MODELS_LISTEN: 'The model plane of a run cannot listen.',
  SUB_MODELS_POLICY: 'The model plane of a run has no policy to decide by.',
  SUB_MODELS_ESCAPE: 'The model calls of the agent cannot be governed.',
  SUB_MODEL_FAILED: 'No model answered.',
  SUB_MODEL_REFUSED: 'A policy refused a question to a model.',
  SUB_MODEL_STOPPED: 'A question to a model was stopped.',
  SUB_TRUST_STORE: 'What was trusted cannot be read or written.',
  SUB_POLICY_STALE: 'The policy was changed meanwhile.',
  // Agent clients, and the changes in their configs.
  SUB_CLIENT_UNKNOWN: 'The agent client is not known.',
  SUB_CLIENT_CONFIG: 'The config of an agent client cannot be used.',
  SUB_CLIENT_GOVERNED: 'The config is governed already.',
  SUB_CLIENT_LOCKED: 'The config is in use by another `sub`.',
  SUB_CLIENT_WRITE: 'The config of an agent client was not changed.',
  SUB_CLIENT_RESTORE: 'The config of an agent client cannot be put back.',
  SUB_CLIENT_HOOKS: 'The hooks of an agent client cannot be put in.',
  SUB_OWN_PATH: 'The path of `sub` itself cannot be found.',
  // Approvals, grants and hints.
  SUB_APPROVAL_UNKNOWN: 'There is no such approval or grant.',
  SUB_APPROVAL_DAMAGED: 'A file of approvals or grants is damaged.',
  SUB_APPROVAL_STORE: 'Approvals cannot be read or kept.',
  SUB_INSIDE_RUN: 'This is for a person, not for an agent.',
  SUB_TERMINAL_NEEDED: 'Only a person at a terminal can decide about a call.',
  SUB_GRANT_REFUSED: 'The grant cannot be given.',
  SUB_HINT_UNKNOWN: 'There is no such hint.',
  SUB_HINT_PROMOTE: 'The hint cannot become a rule.',
  // The ledger.
  SUB_LEDGER_MISSING: 'There is no ledger.',
  SUB_LEDGER_LOCKED: 'Another process writes to the ledger.',
  SUB_LEDGER_BUSY: 'The ledger is busy.',
  SUB_LEDGER_FULL: 'The ledger cannot grow.',
  SUB_LEDGER_READ_ONLY: 'The ledger cannot be written.',
  SUB_LEDGER_CORRUPT: 'The ledger is damaged.',
  SUB_LEDGER_FOREIGN: 'The file is not a ledger.',
  SUB_LEDGER_NEWER: 'The ledger was written by a newer version.',
  SUB_LEDGER_ROLLED_BACK: 'The ledger is older than its last signed head.',
  SUB_LEDGER_TAMPERED: 'The ledger was changed by something else.',
  SUB_LEDGER_QUERY: 'A question to the ledger is malformed.',
  SUB_LEDGER_IO: 'The ledger cannot be read or written.',
  // The HTTP API of the ledger daemon.
  SUB_API_START: 'The HTTP API did not open.',
  SUB_API_HOST: 'The request was meant for another site.',
  SUB_API_TOKEN: 'The token is missing or wrong.',
  SUB_API_LOGIN: 'The login link does not open the page.',
  SUB_API_ROLE: 'The session may not do this.',
  SUB_API_REQUEST: 'The request is malformed.',
  SUB_API_NOT_FOUND: 'There is nothing at this address.',
  SUB_API_LIMIT: 'A limit of the API is reached.',
  SUB_API_BUSY: 'The daemon does work of this kind already.',
  // The page.
  SUB_UI_ADDRESS: 'The page has no address.',
  SUB_UI_PAGES: 'The files of the page are missing or damaged.',
  // Model calls.
  SUB_WIRE_REQUEST: 'A model request cannot be read.',
  SUB_WIRE_ANSWER: 'The answer of a model provider cannot be read.',
  SUB_WIRE_TRANSLATE: 'A model request cannot be carried to another wire.',
  // The API of the gateway.
  SUB_TRACE_UNKNOWN: 'The gateway has no record of the turn.',
  SUB_GATEWAY_KEY: 'The key is missing, wrong or revoked.',
  SUB_GATEWAY_ROLE: 'Your role does not allow this.',
  SUB_GATEWAY_ADDRESS: 'Requests from your address are not answered.',
  SUB_GATEWAY_LIMIT: 'A limit of the gateway is reached.',
  SUB_GATEWAY_TOKEN: 'The token cannot be exchanged for a key.',
  SUB_GATEWAY_BINDING: 'The repository binding does not count.',
  SUB_GATEWAY_WEBHOOK: 'The webhook cannot be used.',
  SUB_GATEWAY_LISTEN: 'The gateway cannot listen on its address.',
  SUB_GATEWAY_TLS: 'The certificate or the key of the gateway cannot be used.',
  // The local proxy, and the machine of a developer.
  SUB_GATEWAY_LOGIN: 'This machine is not logged in to a gateway.',
  SUB_GATEWAY_AWAY: 'The gateway cannot be reached.',
  SUB_GATEWAY_ANSWER: 'The gateway gives an answer that cannot be used.',
  SUB_PROXY_START: 'The local proxy did not start.',
  SUB_PROXY_LISTEN: 'The local proxy cannot listen on its port.',
  SUB_PROXY_VERSION: 'The gateway does not serve a proxy of this version.',
  SUB_PROXY_SCAN: 'The request could not be searched for secrets in time.',
  SUB_STEWARD_CHANNEL: 'A channel of Steward cannot be used.',
  // Databases of the gateway and of Steward's memory.
  SUB_STORE_DOWN: 'The database does not answer.',
  SUB_STORE_BUSY: 'The database cannot keep up.',
  SUB_STORE_REFUSED: 'The database refuses a row.',
  SUB_STORE_NEWER: 'The database was made by a newer version.',
  SUB_STORE_UNUSABLE: 'The database cannot be used.',
  // Steward.
  SUB_CHANGE_UNKNOWN: 'There is no such proposed change.',
  SUB_CHANGE_REFUSED: 'A change of files cannot be proposed.',
  SUB_CHANGE_CONFLICT: 'A proposed change is not what it was, or was decided already.',
  SUB_STEWARD_FILE: 'A file of the Steward configuration is missing, or is not read.',
  SUB_STEWARD_SYNTAX: 'A file of the Steward configuration does not parse.',
  SUB_STEWARD_FIELD: 'The Steward configuration has a wrong field, or lacks one.',
  SUB_STEWARD_VALUE: 'A field of the Steward configuration has a wrong value.',
  SUB_STEWARD_GIT: 'The configuration folder of Steward needs git.',
  SUB_STEWARD_JOURNAL: 'The journal of Steward cannot be used.',
  SUB_STEWARD_MEMORY: 'The memory does not take this.',
  SUB_STEWARD_EMBEDDINGS: 'The model makes no embeddings.',
  SUB_STEWARD_START: 'Steward does not start.',
  SUB_STEWARD_AWAY: 'Steward does not run.',
  SUB_STEWARD_REQUEST: 'Steward cannot take the request.',
  SUB_STEWARD_EXPANSION: 'A skill, a server or a tool cannot be proposed or revoked.',
  // The command line.
  SUB_USAGE: 'The command was called wrongly.',
  SUB_FILE_READ: 'A file cannot be read.',
  SUB_FILE_UNSAFE: 'Others can change a file that decides.',
  SUB_FILE_WRITE: 'A file cannot be written.',
  SUB_INTERNAL: 'Subluminal has a bug.',
} as const;

export type SubCode = keyof typeof ERRORS;

/** The fixes of the codes that the daemon answers with: it sends the words of this table only. */
const FIXES: { readonly [C in SubCode]?: string } = {
  SUB_EVENT_MALFORMED: 'Correct the producer; the message names the field.',
  SUB_EVENT_TOO_LONG: 'Send smaller previews and metadata.',
  SUB_EVENT_CONFLICT:
    'Look who can reach the socket of the ledger; `sub ledger verify` tells how often and when.',
  SUB_APPROVAL_UNKNOWN: 'Look at `sub approvals` or `sub grants`, and give more of the id.',
  SUB_APPROVAL_DAMAGED: 'Remove the file that the message names; whoever asked must ask again.',
  SUB_APPROVAL_STORE: 'Check the disk, the folder and its permissions.',
  SUB_GRANT_REFUSED: 'Do what the message says, or approve without a grant.',
  SUB_LEDGER_MISSING:
    'Run an agent through Subluminal first, take events in with `sub ingest`, or set SUB_HOME to the folder that holds the ledger.',
  SUB_LEDGER_LOCKED:
    'Try again when it has ended. The daemon of an earlier version ends by `sub ledgerd --stop`.',
  SUB_LEDGER_BUSY: 'Try again; when it lasts, look for a program that keeps the file open.',
  SUB_LEDGER_FULL:
    'Free some space elsewhere on the disk, or move the ledger to another one; `sub ledger prune` needs some room itself before it gives space back. Nothing that was stored is lost.',
  SUB_LEDGER_READ_ONLY: 'Give your user the right to write the file and its folder.',
  SUB_LEDGER_CORRUPT:
    'Move the file away and restore a backup, or let `sqlite3 ledger.db .recover` save what is left; then run `sub ledger verify`.',
  SUB_LEDGER_FOREIGN: 'Point the configuration to the ledger, or move the file away.',
  SUB_LEDGER_NEWER: 'Update Subluminal.',
  SUB_LEDGER_ROLLED_BACK:
    'Restore the database that belongs to `ledger.head`; or accept the loss with `sub ledger accept`, which records it in the ledger for good.',
  SUB_LEDGER_TAMPERED:
    'Run `sub ledger verify` to see what is wrong. Then restore a backup; or go on with what is there by `sub ledger accept`, which records that in the ledger for good.',
  SUB_LEDGER_QUERY: 'Correct the filter that the message names; start without a cursor.',
  SUB_LEDGER_IO: 'Check the disk, the folder and its permissions.',
  SUB_API_START:
    'Choose another port, or leave it to the system with port 0; the API listens on 127.0.0.1 or [::1] only.',
  SUB_API_HOST: 'Use the address that `sub ledgerd` gives.',
  SUB_API_TOKEN:
    'Send `Authorization: Bearer TOKEN`; a WebSocket may offer the protocols `subluminal.v1, bearer.TOKEN`. For the page, run `sub ui`.',
  SUB_API_LOGIN: 'Run `sub ui` for a new link; it works once, within two minutes.',
  SUB_API_ROLE: 'Log in as the owner: `sub ui`.',
  SUB_UI_ADDRESS:
    'Set `ledger.http` to a free address of this machine such as "127.0.0.1:0", run `sub ledgerd --stop`, then `sub ui`.',
  SUB_UI_PAGES: 'Install the package again; in a clone, run `npm run build`.',
  SUB_API_REQUEST:
    'Correct the parameter that the message names; docs/reference/http-api.md lists them.',
  SUB_API_NOT_FOUND: 'Check the ids; what was pruned is gone.',
  SUB_API_LIMIT: 'Send less, or close a stream first.',
  SUB_API_BUSY: 'Try again when it has ended.',
  SUB_GATEWAY_KEY: 'Send `Authorization: Bearer KEY`; `sub login` gets you a key.',
  SUB_GATEWAY_ROLE: 'Ask an admin to do it, or to change your role.',
  SUB_GATEWAY_ADDRESS: 'Use a network that `ip_allowlist` of the gateway names.',
  SUB_GATEWAY_LIMIT: 'Wait as long as the header `Retry-After` says, and then try again.',
  SUB_GATEWAY_TOKEN: 'Ask an admin for a new invite.',
  SUB_GATEWAY_BINDING:
    'Run `sub bind-repo` in the repository; ask an admin to register it in `identity/repos.yaml` if that is refused.',
  SUB_GATEWAY_WEBHOOK: 'Use an https address that `webhooks.yaml` allows.',
  SUB_GATEWAY_LISTEN: 'Free the port, or set another `listen` in gateway.yaml.',
  SUB_GATEWAY_TLS: 'Check the files that `tls` in gateway.yaml names.',
  SUB_GATEWAY_LOGIN: 'Run `sub login --gateway URL --invite -` with the invite of an admin.',
  SUB_GATEWAY_AWAY: 'Check the address, the network and the gateway, and then try again.',
  SUB_GATEWAY_ANSWER: 'Check that the address is that of a Subluminal gateway.',
  SUB_PROXY_START: 'Run `sub proxy start --foreground` to see more.',
  SUB_PROXY_LISTEN: 'Choose another port with --port, or end the program that has it.',
  SUB_PROXY_VERSION: 'Update Subluminal on this machine.',
  SUB_PROXY_SCAN: 'Send it again: what was searched is not searched again.',
  SUB_STEWARD_CHANNEL:
    'Do what the message says; docs/guides/steward-channels.md says how each is set up.',
  SUB_STORE_DOWN:
    'Start the database again, or check its address, its password, the disk and the permissions.',
  SUB_STORE_BUSY:
    'Give the database a faster disk or more connections, or send fewer turns at once.',
  SUB_STORE_REFUSED: 'Report it with the message and the version; the other rows were written.',
  SUB_STORE_NEWER:
    'Update Subluminal on this machine, or restore the backup from before the upgrade.',
  SUB_STORE_UNUSABLE:
    'Name another file or database, or restore a backup; the message says what is wrong.',
  SUB_CHANGE_UNKNOWN: 'List the changes, and give the id of one of them.',
  SUB_CHANGE_REFUSED: 'Propose something else, or ask the user.',
  SUB_CHANGE_CONFLICT: 'Look at the change again; reject it, and have it proposed again.',
  SUB_STEWARD_JOURNAL:
    'Check the disk and the permissions of the file; move it away to start with an empty one.',
  SUB_STEWARD_MEMORY: 'Correct what the message names.',
  SUB_STEWARD_EMBEDDINGS:
    'Check the model that makes embeddings; searches go by words alone meanwhile.',
  SUB_STEWARD_START: 'Run `sub steward start --foreground` to see more.',
  SUB_STEWARD_AWAY: 'Run `sub steward start`.',
  SUB_STEWARD_REQUEST: 'Correct what the message names.',
  SUB_STEWARD_EXPANSION: 'Correct what the message names, or choose another one.',
  SUB_INTERNAL: 'Report it with the message and the version.',
};

export const ERROR_CODES: readonly SubCode[] = Object.keys(ERRORS).filter(isCode);

function isCode(name: string): name is SubCode {
  return Object.hasOwn(ERRORS, name);
}

export function errorTitle(code: SubCode): string {
  return ERRORS[code];
}

export function errorFix(code: SubCode): string {
  return FIXES[code] ?? `See ${code} in docs/reference/errors.md.`;
}
