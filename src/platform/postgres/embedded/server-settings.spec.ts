import { settingsForProcesses } from './server-settings';

it('has connections for each process, and not fewer than 200', () => {
  expect([1, 7, 8, 64].map((processes) => settingsForProcesses(processes)['max_connections'])).toEqual([
    ...['200', '202', '228', '1684'],
  ]);
});
