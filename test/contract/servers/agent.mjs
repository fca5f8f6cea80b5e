// An agent that starts the command behind its first argument and passes bytes on, until it is killed.
//   pipes     the shim's stdin and stdout are pipes of the agent, as with every client
//   inherit   they are the agent's own, so that its death closes nothing
import { spawn } from 'node:child_process';

const [, , how, program = '', ...args] = process.argv;
const ends = how === 'pipes' ? 'pipe' : 'inherit';
const shim = spawn(program, args, { stdio: [ends, ends, 'inherit'] });
if (shim.stdin !== null) process.stdin.pipe(shim.stdin);
shim.stdout?.pipe(process.stdout);
