// Apart from other variables: a hook loads this at each call.

/** Where a run listens for the hooks of its agent. */
export const HOOKS_SOCKET_VAR = 'SUB_HOOKS_SOCKET';

/** Programs that the host of hooks may start: not those that a project has put first. */
export const HOOKS_PATH = '/usr/local/bin:/usr/bin:/bin';
