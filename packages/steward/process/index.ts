export {
  cleanEnvironment,
  type ProgramResult,
  runProgram,
} from './run-program.ts';
