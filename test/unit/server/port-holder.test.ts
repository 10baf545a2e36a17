import {expect, it} from 'vitest';
import {listeningInodes} from '../../../src/server/port-holder.ts';

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0
   1: 0100007F:1F40 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 20 4 30 10 -1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0 100 0 0 10 0
`;

it('finds the sockets that listen on a port', () => {
  expect([8000, 22, 80].map((port) => listeningInodes(table, port))).toEqual([['111'], ['333'], []]);
});
