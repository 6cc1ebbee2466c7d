// Required before a program: its machine's clock is CLOCK_AHEAD_MS ahead. The monotonic clock is as it is.
const { env } = require('node:process');

const aheadMs = Number(env.CLOCK_AHEAD_MS);
const MachineDate = Date;

globalThis.Date = class Date extends MachineDate {
  constructor(...parts) {
    if (parts.length === 0) super(MachineDate.now() + aheadMs);
    else super(...parts);
  }

  static now() {
    return MachineDate.now() + aheadMs;
  }
};
