/** Where a run listens for the hooks of its agent. Apart from other variables: a hook loads this at each call. */
export const HOOKS_SOCKET_VAR = 'SUB_HOOKS_SOCKET';
