import { Option } from 'commander';
import { workspaceName } from './workspaces-command';

export function workspaceOption(): Option {
  return new Option('-w, --workspace <name>', 'the workspace').argParser(workspaceName).default('default');
}
