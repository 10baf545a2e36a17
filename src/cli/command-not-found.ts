/** The hook for a command that does not exist: named like every other wrong use, with the nearest command, exit code 2. */
import type {Hook} from '@oclif/core';
import {UsageError} from '../core/errors.ts';
import {nearestName} from '../core/util/nearest-name.ts';
import {describeError, errorJson, errorLines} from './describe-error.ts';

const commandNotFound: Hook.CommandNotFound = async function ({id, argv = [], config}) {
  const error = unknownCommand(id, config.commandIDs, config.bin);
  for (const line of errorLines(error, {showsStack: false})) process.stderr.write(`${line}\n`);
  if (argv.includes('--json')) process.stdout.write(`${errorJson(error)}\n`);
  this.exit(describeError(error).exitCode);
};

export default commandNotFound;

function unknownCommand(id: string, commands: readonly string[], bin: string): UsageError {
  const nearest = nearestName(id, commands);
  const hint = nearest === null ? `\`${bin} --help\` lists all commands` : `did you mean ${bin} ${nearest}?`;
  return new UsageError(`Unknown command ${id}`, {hint});
}
