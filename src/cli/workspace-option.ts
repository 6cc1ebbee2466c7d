import { Option } from 'commander';
import { workspaceName } from './workspaces-command';

/** The option of every command that works in one workspace. */
export function workspaceOption(): Option {
  return new Option('-w, --workspace <name>', 'the workspace').argParser(workspaceName).default('default');
}
