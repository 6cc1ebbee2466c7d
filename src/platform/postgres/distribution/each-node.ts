/**
 * A FROM list `node (nodeid, success, result)`: what a text selects on each node of a distributed database, one value as text,
 * the coordinator included. A node that does not answer has no success. `parameter`: an expression that takes the place of
 * `%L` in the text. Each call opens a session to each node.
 */
export function onEachNode(text: string, parameter?: string): string {
  const literal = `$each_node$${text}$each_node$`;
  return `run_command_on_all_nodes(${parameter === undefined ? literal : `format(${literal}, ${parameter})`}) AS node`;
}
