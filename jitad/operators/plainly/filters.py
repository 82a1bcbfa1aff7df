"""What designs filters, runs linear systems and changes the rate of signals, of scipy.signal?"""

from __future__ import annotations

import scipy.signal as sg

from jitad.operators.plainly import stands_for_each
from jitad.plain import divided, filter_designs, linear_systems, short_spectra

stands_for_each({
    getattr(sg, name): getattr(filter_designs, name)
    for name in ("butter", "cheby1", "cheby2", "ellip", "iirnotch", "iirpeak", "firwin", "bilinear",
                 "get_window")
})  # fmt: skip
stands_for_each({
    sg.windows.kaiser: filter_designs.kaiser,
    sg.windows.gaussian: filter_designs.gaussian,
})
stands_for_each({
    getattr(sg, name): getattr(linear_systems, name)
    for name in ("lsim", "step", "impulse", "dlsim", "cont2discrete", "tf2ss", "ss2tf", "freqs",
                 "freqresp", "bode", "tf2zpk", "zpk2tf")
})  # fmt: skip
stands_for_each({
    getattr(sg, name): getattr(short_spectra, name)
    for name in ("stft", "decimate")
})  # fmt: skip
stands_for_each({
    getattr(sg, name): getattr(short_spectra, name)
    for name in ("istft", "upfirdn", "resample_poly")
}, complex_too=True)  # fmt: skip
stands_for_each({
    getattr(sg, name): getattr(divided, name)
    for name in ("deconvolve", "sos2tf", "freqz_sos", "group_delay", "lfiltic", "gausspulse",
                 "lombscargle", "wiener", "medfilt", "medfilt2d")
})  # fmt: skip
if sg.sosfreqz is not sg.freqz_sos:
    stands_for_each({sg.sosfreqz: divided.freqz_sos})
