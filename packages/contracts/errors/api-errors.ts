// The errors of the HTTP API of the ledger daemon; see errors.ts.

export const API_ERRORS = {
  SUB_API_START: {
    title: 'The HTTP API did not open.',
    cause:
      'The port is taken, the token is too weak, or the address is not one of this machine alone.',
    fix: 'Choose another port, or leave it to the system with port 0; the API listens on 127.0.0.1 or ::1 only.',
  },
  SUB_API_HOST: {
    title: 'The request was meant for another site.',
    cause:
      'Its Host or Origin is not the one of this API, as when a web page reaches for it through a name of its own.',
    fix: 'Use the address that `sub ledgerd` gives.',
  },
  SUB_API_TOKEN: {
    title: 'The token is missing or wrong.',
    cause:
      'Every request needs the token of this API, because other users and web pages can reach the port too.',
    fix: 'Send `Authorization: Bearer TOKEN`; a WebSocket may offer the protocols `subluminal.v1, bearer.TOKEN`.',
  },
  SUB_API_REQUEST: {
    title: 'The request is malformed.',
    cause:
      'A parameter is unknown, repeated or has a wrong value, or the request has a body or a method that the API does not take.',
    fix: 'Correct the parameter that the message names; docs/reference/http-api.md lists them.',
  },
  SUB_API_NOT_FOUND: {
    title: 'There is nothing at this address.',
    cause: 'The ledger has no such run or call, or the API has no such path.',
    fix: 'Check the ids; what was pruned is gone.',
  },
  SUB_API_LIMIT: {
    title: 'A limit of the API is reached.',
    cause: 'The request is too large or too slow, or too many streams are open.',
    fix: 'Send less, or close a stream first.',
  },
} as const;
