import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The connection from the browser to the workbench's server, which a test can cut and restore. */
export interface Connection {
  /** Port on 127.0.0.1 to which the browser connects. */
  readonly port: number;
  /** Breaks open connections and refuses new ones. */
  lose(): void;
  /** Accepts new connections again. */
  regain(): void;
  close(): Promise<void>;
}

/** @param port of the server, on 127.0.0.1 */
export async function startConnection(port: number): Promise<Connection> {
  const sockets = new Set<Socket>();
  let isLost = false;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.pipe(to);
    // A broken end breaks the other one; an end that closes normally delivers its data first.
    from.once('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }

  const relay = createServer((browser) => {
    if (isLost) {
      browser.resetAndDestroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    join(browser, server);
    join(server, browser);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));

  const lose = (): void => {
    isLost = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: portOf(relay),
    lose,
    regain: () => {
      isLost = false;
    },
    close: async () => {
      lose();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
