"""Accelerators of EC2 instance types: plain data, no behaviour.

Each row is ``type: (maker, model, eighths, memory)``: how many eighths of an
accelerator the type holds (fractional GPUs come in eighths), and the memory of one
accelerator (of the slice, for a fractional one) in MiB.

Source: answers of EC2 DescribeInstanceTypes as shipped with moto 5.2.5
(https://github.com/getmoto/moto, Apache-2.0), reduced to these columns. Types that it
does not describe are listed apart, from AWS's user guide
(https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html).
"""

from __future__ import annotations

from typing import Final

#: Described by the EC2 API.
DESCRIBED: Final[dict[str, tuple[str, str, int, int]]] = {
    "dl2q.24xlarge": ("Qualcomm", "AI100", 64, 16000),
    "g4dn.xlarge": ("NVIDIA", "T4", 8, 16384),
    "g4dn.2xlarge": ("NVIDIA", "T4", 8, 16384),
    "g4dn.4xlarge": ("NVIDIA", "T4", 8, 16384),
    "g4dn.8xlarge": ("NVIDIA", "T4", 8, 16384),
    "g4dn.12xlarge": ("NVIDIA", "T4", 32, 16384),
    "g4dn.16xlarge": ("NVIDIA", "T4", 8, 16384),
    "g4dn.metal": ("NVIDIA", "T4", 64, 16384),
    "g5.xlarge": ("NVIDIA", "A10G", 8, 22888),
    "g5.2xlarge": ("NVIDIA", "A10G", 8, 22888),
    "g5.4xlarge": ("NVIDIA", "A10G", 8, 22888),
    "g5.8xlarge": ("NVIDIA", "A10G", 8, 22888),
    "g5.12xlarge": ("NVIDIA", "A10G", 32, 22888),
    "g5.16xlarge": ("NVIDIA", "A10G", 8, 22888),
    "g5.24xlarge": ("NVIDIA", "A10G", 32, 22888),
    "g5.48xlarge": ("NVIDIA", "A10G", 64, 22888),
    "g5g.xlarge": ("NVIDIA", "T4g", 8, 16384),
    "g5g.2xlarge": ("NVIDIA", "T4g", 8, 16384),
    "g5g.4xlarge": ("NVIDIA", "T4g", 8, 16384),
    "g5g.8xlarge": ("NVIDIA", "T4g", 8, 16384),
    "g5g.16xlarge": ("NVIDIA", "T4g", 16, 16384),
    "g5g.metal": ("NVIDIA", "T4g", 16, 16384),
    "g6.xlarge": ("NVIDIA", "L4", 8, 22888),
    "g6.2xlarge": ("NVIDIA", "L4", 8, 22888),
    "g6.4xlarge": ("NVIDIA", "L4", 8, 22888),
    "g6.8xlarge": ("NVIDIA", "L4", 8, 22888),
    "g6.12xlarge": ("NVIDIA", "L4", 32, 22888),
    "g6.16xlarge": ("NVIDIA", "L4", 8, 22888),
    "g6.24xlarge": ("NVIDIA", "L4", 32, 22888),
    "g6.48xlarge": ("NVIDIA", "L4", 64, 22888),
    "g6e.xlarge": ("NVIDIA", "L40S", 8, 45776),
    "g6e.2xlarge": ("NVIDIA", "L40S", 8, 45776),
    "g6e.4xlarge": ("NVIDIA", "L40S", 8, 45776),
    "g6e.8xlarge": ("NVIDIA", "L40S", 8, 45776),
    "g6e.12xlarge": ("NVIDIA", "L40S", 32, 45776),
    "g6e.16xlarge": ("NVIDIA", "L40S", 8, 45776),
    "g6e.24xlarge": ("NVIDIA", "L40S", 32, 45776),
    "g6e.48xlarge": ("NVIDIA", "L40S", 64, 45776),
    "g6f.large": ("NVIDIA", "L4", 1, 2861),
    "g6f.xlarge": ("NVIDIA", "L4", 1, 2861),
    "g6f.2xlarge": ("NVIDIA", "L4", 2, 5722),
    "g6f.4xlarge": ("NVIDIA", "L4", 4, 11444),
    "g7.2xlarge": ("NVIDIA", "RTX PRO 4500", 8, 32768),
    "g7.4xlarge": ("NVIDIA", "RTX PRO 4500", 8, 32768),
    "g7.8xlarge": ("NVIDIA", "RTX PRO 4500", 8, 32768),
    "g7.12xlarge": ("NVIDIA", "RTX PRO 4500", 16, 32768),
    "g7.24xlarge": ("NVIDIA", "RTX PRO 4500", 32, 32768),
    "g7.48xlarge": ("NVIDIA", "RTX PRO 4500", 64, 32768),
    "g7e.2xlarge": ("NVIDIA", "RTX PRO Server 6000", 8, 98304),
    "g7e.4xlarge": ("NVIDIA", "RTX PRO Server 6000", 8, 98304),
    "g7e.8xlarge": ("NVIDIA", "RTX PRO Server 6000", 8, 98304),
    "g7e.12xlarge": ("NVIDIA", "RTX PRO Server 6000", 16, 98304),
    "g7e.24xlarge": ("NVIDIA", "RTX PRO Server 6000", 32, 98304),
    "g7e.48xlarge": ("NVIDIA", "RTX PRO Server 6000", 64, 98304),
    "gr6.4xlarge": ("NVIDIA", "L4", 8, 22888),
    "gr6.8xlarge": ("NVIDIA", "L4", 8, 22888),
    "gr6f.4xlarge": ("NVIDIA", "L4", 4, 11444),
    "inf1.xlarge": ("AWS", "Inferentia", 8, 8192),
    "inf1.2xlarge": ("AWS", "Inferentia", 8, 8192),
    "inf1.6xlarge": ("AWS", "Inferentia", 32, 8192),
    "inf1.24xlarge": ("AWS", "Inferentia", 128, 8192),
    "inf2.xlarge": ("AWS", "Inferentia2", 8, 32768),
    "inf2.8xlarge": ("AWS", "Inferentia2", 8, 32768),
    "inf2.24xlarge": ("AWS", "Inferentia2", 48, 32768),
    "inf2.48xlarge": ("AWS", "Inferentia2", 96, 32768),
    "p3dn.24xlarge": ("NVIDIA", "V100", 64, 32768),
    "p4d.24xlarge": ("NVIDIA", "A100", 64, 40960),
    "p4de.24xlarge": ("NVIDIA", "A100", 64, 81920),
    "p5.4xlarge": ("NVIDIA", "H100", 8, 81920),
    "p5.48xlarge": ("NVIDIA", "H100", 64, 81920),
    "p5e.48xlarge": ("NVIDIA", "H200", 64, 144384),
    "p5en.48xlarge": ("NVIDIA", "H200", 64, 144384),
    "p6-b200.48xlarge": ("NVIDIA", "B200", 64, 183359),
    "p6-b300.48xlarge": ("NVIDIA", "B300", 64, 275040),
    "trn1.2xlarge": ("AWS", "Trainium", 8, 32768),
    "trn1.32xlarge": ("AWS", "Trainium", 128, 32768),
    "trn1n.32xlarge": ("AWS", "Trainium", 128, 32768),
    "trn2.3xlarge": ("AWS", "Trainium2", 8, 524288),
    "trn2.48xlarge": ("AWS", "Trainium2", 128, 524288),
}

#: Known from the user guide: earlier generations, and one type without details.
DOCUMENTED: Final[dict[str, tuple[str, str, int, int]]] = {
    "dl1.24xlarge": ("Habana", "Gaudi HL-205", 64, 32768),
    "g3.4xlarge": ("NVIDIA", "M60", 8, 8192),
    "g3.8xlarge": ("NVIDIA", "M60", 16, 8192),
    "g3.16xlarge": ("NVIDIA", "M60", 32, 8192),
    "g3s.xlarge": ("NVIDIA", "M60", 8, 8192),
    "g4ad.xlarge": ("AMD", "Radeon Pro V520", 8, 8192),
    "g4ad.2xlarge": ("AMD", "Radeon Pro V520", 8, 8192),
    "g4ad.4xlarge": ("AMD", "Radeon Pro V520", 8, 8192),
    "g4ad.8xlarge": ("AMD", "Radeon Pro V520", 16, 8192),
    "g4ad.16xlarge": ("AMD", "Radeon Pro V520", 32, 8192),
    "p2.xlarge": ("NVIDIA", "K80", 8, 12288),
    "p2.8xlarge": ("NVIDIA", "K80", 64, 12288),
    "p2.16xlarge": ("NVIDIA", "K80", 128, 12288),
    "p3.2xlarge": ("NVIDIA", "V100", 8, 16384),
    "p3.8xlarge": ("NVIDIA", "V100", 32, 16384),
    "p3.16xlarge": ("NVIDIA", "V100", 64, 16384),
    "trn2u.48xlarge": ("AWS", "Trainium2", 128, 524288),
}
